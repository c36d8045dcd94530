/**
 * The differences between two catalogs, given as NDJSON exports: applied to the first, they yield the second. Rows are compared and passed
 * on byte for byte.
 */
import { Type } from "@sinclair/typebox";
import { byCodeUnits } from "../../kernel/text.ts";
import { ConnectorRow } from "./row.ts";

type ChangeOp = "added" | "changed" | "removed";

/** A line of the feed. */
export const ConnectorChange = Type.Object({
  seq: Type.Integer({ minimum: 1, description: "Its number; there are no gaps" }),
  id: Type.String({ description: "The connector's id" }),
  op: Type.Union([Type.Literal("added"), Type.Literal("changed"), Type.Literal("removed")], {
    description: "What became of the connector",
  }),
  version: Type.String({ description: "Version of the catalog in which it did" }),
  row: Type.Union([ConnectorRow, Type.Null()], { description: "The row as it is in that version; null: it is gone" }),
});

export interface Change {
  id: string;
  op: ChangeOp;
  /** The line of the export; null if the connector was removed. */
  row: string | null;
}

/** Sorted by id. */
export function changesBetween({ before, after }: { before: string; after: string }): Change[] {
  const old = linesById(before);
  const present = linesById(after);
  const removed = [...old.keys()].filter((id) => !present.has(id)).map((id): Change => ({ id, op: "removed", row: null }));
  const kept = [...present]
    .filter(([id, row]) => old.get(id) !== row)
    .map(([id, row]): Change => ({ id, op: old.has(id) ? "changed" : "added", row }));
  return [...removed, ...kept].toSorted((one, other) => byCodeUnits(one.id, other.id));
}

export interface RecordedChange extends Change {
  seq: number;
  version: string;
}

/** A line of the feed, with the row byte for byte as in the export. */
export function changeLine({ seq, id, op, version, row }: RecordedChange): string {
  return `{"seq":${seq},"id":${JSON.stringify(id)},"op":"${op}","version":"${version}","row":${row ?? "null"}}\n`;
}

function linesById(ndjson: string): Map<string, string> {
  const lines = ndjson.split("\n").filter((line) => line !== "");
  return new Map(lines.map((line) => [idOf(line), line]));
}

/** Every line of an export is a row, and every row has an id. */
function idOf(line: string): string {
  return (JSON.parse(line) as { id: string }).id;
}
