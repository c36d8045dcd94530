/**
 * A parsed body as lines of JSON and back, on its way from one process to another. Each line is so small that parsing it does not
 * block the event loop. Both ends run this file in the same version.
 */
import type { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import type { PackageName } from "../../versions/package-name.ts";
import { packagesPerStatement } from "../../limits.ts";
import type { ComponentColumns, EdgeColumns } from "../sbom-rows.ts";
import type { ParsedBody, SbomResult } from "./parse-sbom-field.ts";

type Line =
  /** The rest in base64, and the SBOM with empty lists: the next lines fill them. */
  | { kind: "body"; rest: string; sbom: SbomResult | null }
  | { kind: "packages"; packages: PackageName[] }
  | { kind: "components"; rows: ComponentColumns }
  | { kind: "edges"; rows: EdgeColumns }
  /** The last line. */
  | { kind: "end" };

export function* encodeBody(body: ParsedBody): Generator<string> {
  for (const line of linesOf(body)) yield `${JSON.stringify(line)}\n`;
}

function* linesOf({ sbom, rest }: ParsedBody): Generator<Line> {
  const rows = sbom?.rows ?? null;
  const head = rows === null ? sbom : { refused: null, rows: { ...rows, packages: [], componentRows: [], edgeRows: [] } };
  yield { kind: "body", rest: Buffer.from(rest).toString("base64"), sbom: head };
  if (rows !== null) {
    for (let at = 0; at < rows.packages.length; at += packagesPerStatement) {
      yield { kind: "packages", packages: rows.packages.slice(at, at + packagesPerStatement) };
    }
    for (const batch of rows.componentRows) yield { kind: "components", rows: batch };
    for (const batch of rows.edgeRows) yield { kind: "edges", rows: batch };
  }
  yield { kind: "end" };
}

/** @throws Error if the last line is missing */
export async function decodeBody(lines: AsyncIterable<string>, yielder: EventLoopYielder): Promise<ParsedBody> {
  const body: ParsedBody = { sbom: null, rest: new Uint8Array() };
  for await (const text of lines) {
    const line = parsed(text);
    if (line.kind === "end") return body;
    addTo(body, line);
    await yielder.yieldIfDue();
  }
  throw new Error("The process that reads SBOMs ended before its answer did");
}

function addTo(body: ParsedBody, line: Exclude<Line, { kind: "end" }>): void {
  const rows = body.sbom?.rows;
  if (line.kind === "body") {
    body.rest = Buffer.from(line.rest, "base64");
    body.sbom = line.sbom;
  } else if (line.kind === "packages") for (const name of line.packages) rows?.packages.push(name);
  else if (line.kind === "components") rows?.componentRows.push(line.rows);
  else rows?.edgeRows.push(line.rows);
}

/** The counterpart of `encodeBody`. */
function parsed(text: string): Line {
  return JSON.parse(text) as Line;
}
