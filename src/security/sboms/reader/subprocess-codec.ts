/**
 * What was taken of a body as lines of JSON and back, for the way from one process to another: each line is small enough that
 * reading it holds nobody up. Both ends are this file, of one and the same version.
 */
import type { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import type { PackageName } from "../../versions/package-name.ts";
import { packagesPerStatement } from "../../limits.ts";
import type { ComponentColumns, EdgeColumns, SbomRows } from "../sbom-rows.ts";
import type { ParsedBody } from "./parse-sbom-field.ts";

type Line =
  /** The rest in base64. */
  | { kind: "body"; rest: string; found: boolean; refused: string | null; sbom: SbomRows | null }
  | { kind: "packages"; packages: PackageName[] }
  | { kind: "components"; rows: ComponentColumns }
  | { kind: "edges"; rows: EdgeColumns }
  /** Without it, something is missing. */
  | { kind: "end" };

export function* encodeBody({ taken, rest }: ParsedBody): Generator<string> {
  for (const line of partsOf({ taken, rest })) yield `${JSON.stringify(line)}\n`;
}

function* partsOf({ taken, rest }: ParsedBody): Generator<Line> {
  const sbom = taken?.sbom ?? null;
  const head = sbom && { ...sbom, packages: [], componentRows: [], edgeRows: [] };
  const found = taken !== null;
  yield { kind: "body", rest: Buffer.from(rest).toString("base64"), found, refused: taken?.refused ?? null, sbom: head };
  if (sbom !== null) {
    for (let at = 0; at < sbom.packages.length; at += packagesPerStatement) {
      yield { kind: "packages", packages: sbom.packages.slice(at, at + packagesPerStatement) };
    }
    for (const rows of sbom.componentRows) yield { kind: "components", rows };
    for (const rows of sbom.edgeRows) yield { kind: "edges", rows };
  }
  yield { kind: "end" };
}

/** @throws when the lines end before their end */
export async function decodeBody(lines: AsyncIterable<string>, yielder: EventLoopYielder): Promise<ParsedBody> {
  const body: ParsedBody = { taken: null, rest: new Uint8Array() };
  for await (const text of lines) {
    const line = parsed(text);
    if (line.kind === "end") return body;
    addTo(body, line);
    await yielder.yieldIfDue();
  }
  throw new Error("The process that reads SBOMs ended before its answer did");
}

function addTo(body: ParsedBody, line: Exclude<Line, { kind: "end" }>): void {
  const sbom = body.taken?.sbom;
  if (line.kind === "body") {
    body.rest = Buffer.from(line.rest, "base64");
    if (line.refused !== null) body.taken = { refused: line.refused, sbom: null };
    else if (line.sbom !== null) body.taken = { refused: null, sbom: line.sbom };
  } else if (line.kind === "packages") for (const name of line.packages) sbom?.packages.push(name);
  else if (line.kind === "components") sbom?.componentRows.push(line.rows);
  else sbom?.edgeRows.push(line.rows);
}

/** The other end is `encodeBody`. */
function parsed(text: string): Line {
  return JSON.parse(text) as Line;
}
