/** A change feed with tombstones: replaying it equals the snapshot. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { changeLine, changesBetween } from "../../../src/connectors/catalog/changes.ts";

type Rows = Record<string, number>;

/** As an export: sorted by id. */
function ndjson(rows: Rows): string {
  const ids = Object.keys(rows).toSorted();
  return ids.map((id) => `${JSON.stringify({ id, value: rows[id] })}\n`).join("");
}

const ids = ["a", "a-b", "b", "c", "d", "z9"];
const catalogs = fc.array(fc.dictionary(fc.constantFrom(...ids), fc.nat(2)), { minLength: 1, maxLength: 8 });

test("replaying all changes up to any version gives that version, from any start", () => {
  fc.assert(
    fc.property(catalogs, fc.nat(8), (versions, start) => {
      const snapshots = ["", ...versions.map(ndjson)];
      const from = Math.min(start, versions.length);
      const lines = new Map(linesIn(snapshots[from] ?? ""));
      for (let number = from + 1; number < snapshots.length; number++) {
        const [before = "", after = ""] = snapshots.slice(number - 1);
        for (const { id, op, row } of changesBetween({ before, after })) {
          expect(op).toBe(row === null ? "removed" : lines.has(id) ? "changed" : "added");
          if (row === null) lines.delete(id);
          else lines.set(id, row);
        }
        const replayed = [...lines].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, line]) => `${line}\n`);
        expect(replayed.join("")).toBe(after);
      }
    }),
  );
});

function linesIn(text: string): [string, string][] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => [JSON.parse(line).id, line]);
}

test("a line is seq, id, op, version and row; a tombstone's row is null", () => {
  const line = changeLine({ seq: 7, id: "a", op: "changed", version: "2026-11-20.2", row: '{"id":"a"}' });
  expect(line).toBe('{"seq":7,"id":"a","op":"changed","version":"2026-11-20.2","row":{"id":"a"}}\n');
  const gone = changeLine({ seq: 8, id: "a", op: "removed", version: "2026-11-20.2", row: null });
  expect(JSON.parse(gone)).toEqual({ seq: 8, id: "a", op: "removed", version: "2026-11-20.2", row: null });
});
