/**
 * Reads the statements of a VEX document: CycloneDX, OpenVEX 0.2.0, or CSAF 2.0 and 2.1 of the profile VEX, all in JSON. Size, depth,
 * values and statements are bounded before anything is concluded. Another document is refused with what it is and what is read.
 */
import { DomainError } from "../../../accounts/errors.ts";
import { isJsonObject, type JsonObject } from "../../../http/json.ts";
import { shortened } from "../../../kernel/text.ts";
import type { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import { parseJsonInTurns } from "../../sboms/json.ts";
import { utf16Of } from "../../sboms/read-sbom.ts";
import { SbomRefusal } from "../../sboms/refusal.ts";
import { vexDepthMax, vexStatementsMax, vexValuesMax } from "../limits.ts";
import { readCsaf } from "./csaf.ts";
import { readCycloneDx } from "./cyclonedx.ts";
import { readOpenVex } from "./openvex.ts";
import type { StatementReader, VexStatement } from "./statement.ts";

/** @throws DomainError invalid_body with the location of the first fault */
export async function readVex(bytes: Uint8Array, yielder: EventLoopYielder): Promise<VexStatement[]> {
  const document = await parse(bytes, yielder);
  const statements: VexStatement[] = [];
  for (const statement of readerOf(document)(document)) {
    if (statement !== null && statements.push(statement) > vexStatementsMax)
      throw new DomainError("invalid_body", `The document has more than ${vexStatementsMax} statements: split it`);
    await yielder.yieldIfDue();
  }
  return statements;
}

const bounds = { depthMax: vexDepthMax, valuesMax: vexValuesMax, fieldsMax: 1_000 };

async function parse(bytes: Uint8Array, yielder: EventLoopYielder): Promise<JsonObject> {
  try {
    const utf16 = utf16Of(bytes);
    const text = new TextDecoder(utf16 ?? "utf-8", { fatal: true }).decode(bytes);
    const start = text.slice(0, 1_000).trimStart();
    if (start.startsWith("<")) throw unknownFormat("XML");
    const value: unknown = await parseJsonInTurns(
      { bytes: utf16 === null ? bytes : new TextEncoder().encode(text), text, bounds },
      yielder,
    );
    if (isJsonObject(value)) return value;
  } catch (error) {
    if (error instanceof SbomRefusal) throw new DomainError("invalid_body", error.message);
    if (error instanceof TypeError)
      throw new DomainError("invalid_body", `The document is not valid ${utf16Of(bytes) === null ? "UTF-8" : "UTF-16"}`);
    throw error;
  }
  throw unknownFormat("JSON that is not an object");
}

function unknownFormat(found: string): DomainError {
  const read = 'CycloneDX in JSON, OpenVEX 0.2.0, and CSAF 2.0 or 2.1 of the category "csaf_vex"';
  return new DomainError("invalid_body", `The document is ${found}. Weir reads ${read}`);
}

/** @throws DomainError that names what was found */
function readerOf(document: JsonObject): StatementReader {
  const { bomFormat, "@context": context, document: csaf } = document;
  if (bomFormat === "CycloneDX") return readCycloneDx;
  if (bomFormat !== undefined) throw unknownFormat(`JSON whose bomFormat is ${quoted(bomFormat)}`);
  if (typeof context === "string" && context.startsWith(openVexNamespace)) {
    const [, version = "0.0.1"] = /^\/v(\d[\w.-]*)\/?$/.exec(context.slice(openVexNamespace.length)) ?? [];
    if (version !== "0.2.0") throw unknownFormat(`OpenVEX ${quoted(version)}`);
    return readOpenVex;
  }
  if (isJsonObject(csaf) && csaf["csaf_version"] !== undefined) {
    const { csaf_version: version, category } = csaf;
    if (version !== "2.0" && version !== "2.1") throw unknownFormat(`CSAF ${quoted(version)}`);
    if (category !== "csaf_vex") throw unknownFormat(`CSAF ${version} of the category ${quoted(category)}`);
    return readCsaf;
  }
  throw unknownFormat(otherKinds.find(({ field }) => Object.hasOwn(document, field))?.is ?? "JSON of an unknown format");
}

const openVexNamespace = "https://openvex.dev/ns";

/** Documents that people mistake for VEX, by a field that only they have. */
const otherKinds = [
  { field: "spdxVersion", is: "an SPDX document, which has no statements" },
  { field: "runs", is: "a SARIF report, which has no statements" },
  { field: "predicateType", is: "an in-toto attestation: import its field `predicate` alone" },
  { field: "payloadType", is: "a signed envelope (DSSE): import the statements within it" },
  { field: "affected", is: "an OSV advisory, which has no statements" },
  { field: "SchemaVersion", is: "a report of Trivy" },
  { field: "matches", is: "a report of Grype" },
  { field: "@graph", is: "JSON-LD, such as SPDX 3" },
];

function quoted(value: unknown): string {
  return shortened(JSON.stringify(value) ?? "missing", 60);
}
