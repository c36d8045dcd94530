/**
 * Reads the statements of a CycloneDX document in JSON. Size, depth and number of values are bounded before anything is parsed. A
 * statement names its component by bom-ref, by package URL, or by either behind the `#` of a BOM-Link. Statements without an analysis
 * are left out.
 */
import { DomainError } from "../../../accounts/errors.ts";
import { isJsonObject, type JsonObject } from "../../../http/json.ts";
import type { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import { readIdentifier } from "../../advisories/advisory.ts";
import { parseJsonInTurns } from "../../sboms/json.ts";
import { SbomRefusal } from "../../sboms/refusal.ts";
import { packageIdentity, packageNameOf } from "../../versions/ecosystem.ts";
import { parsePackageUrl, PackageUrlError } from "../../versions/package-url.ts";
import { vexDepthMax, vexStatementsMax, vexValuesMax } from "../limits.ts";
import { justifications } from "../decision.ts";
import { analysisStates, decisionOf, type Decided } from "./vex-analysis.ts";

/** A vulnerability in one component, and the decision about it. */
export interface VexStatement {
  /** In upper case. */
  id: string;
  /** As the document writes it; null: every component that has the vulnerability. */
  ref: string | null;
  /** The package of the component; null: the reference names none. */
  package: { identity: string; version: string | null } | null;
  decided: Decided;
}

/** @throws DomainError invalid_body with the location of the first fault */
export async function readVex(bytes: Uint8Array, yielder: EventLoopYielder): Promise<VexStatement[]> {
  const document = await parse(bytes, yielder);
  if (document["bomFormat"] !== "CycloneDX") throw refused("bomFormat", 'must be "CycloneDX"');
  const listed = document["vulnerabilities"] ?? [];
  if (!Array.isArray(listed)) throw refused("vulnerabilities", "must be a list");
  const purls = purlsOf(document["components"]);
  const statements: VexStatement[] = [];
  for (const [index, entry] of listed.entries()) {
    for (const statement of statementsOf(entry, `vulnerabilities[${index}]`, purls)) {
      if (statements.push(statement) > vexStatementsMax)
        throw new DomainError("invalid_body", `The document has more than ${vexStatementsMax} statements: split it`);
      await yielder.yieldIfDue();
    }
  }
  return statements;
}

const bounds = { depthMax: vexDepthMax, valuesMax: vexValuesMax, fieldsMax: 1_000 };

async function parse(bytes: Uint8Array, yielder: EventLoopYielder): Promise<JsonObject> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const value: unknown = await parseJsonInTurns({ bytes, text, bounds }, yielder);
    if (isJsonObject(value)) return value;
  } catch (error) {
    if (error instanceof SbomRefusal) throw new DomainError("invalid_body", error.message);
    if (error instanceof TypeError) throw new DomainError("invalid_body", "The document is not valid UTF-8");
    throw error;
  }
  throw new DomainError("invalid_body", "The document is not a CycloneDX document in JSON");
}

function refused(at: string, reason: string): DomainError {
  return new DomainError("invalid_body", `${at} ${reason}`);
}

/** By bom-ref, without nested components. */
function purlsOf(components: unknown): Map<string, string> {
  const purls = new Map<string, string>();
  if (!Array.isArray(components)) return purls;
  for (const component of components) {
    if (!isJsonObject(component)) continue;
    const { "bom-ref": ref, purl } = component;
    if (typeof ref === "string" && typeof purl === "string") purls.set(ref, purl);
  }
  return purls;
}

function* statementsOf(entry: unknown, at: string, purls: ReadonlyMap<string, string>): Generator<VexStatement> {
  if (!isJsonObject(entry)) throw refused(at, "must be an object");
  const { analysis, affects = [] } = entry;
  if (analysis === undefined) return;
  const id = typeof entry["id"] === "string" ? readIdentifier(entry["id"]) : null;
  if (id === null) throw refused(`${at}.id`, "must be the id of a vulnerability");
  const decided = decidedOf(analysis, `${at}.analysis`);
  if (!Array.isArray(affects)) throw refused(`${at}.affects`, "must be a list");
  if (affects.length === 0) yield { id, ref: null, package: null, decided };
  for (const [index, affected] of affects.entries()) {
    const ref = isJsonObject(affected) ? affected["ref"] : undefined;
    if (typeof ref !== "string") throw refused(`${at}.affects[${index}].ref`, "must be a text");
    yield { id, ref, package: packageOf(purlOf(ref, purls)), decided };
  }
}

function decidedOf(analysis: unknown, at: string): Decided {
  if (!isJsonObject(analysis)) throw refused(at, "must be an object");
  const { state: word, justification: reason, response, detail } = analysis;
  const state = analysisStates.find((one) => one === word);
  if (state === undefined) throw refused(`${at}.state`, `must be one of ${analysisStates.join(", ")}`);
  const justification = justifications.find((one) => one === reason);
  return decisionOf({
    state,
    ...(justification && { justification }),
    ...(Array.isArray(response) && { response: response.map(String) }),
    ...(typeof detail === "string" && { detail }),
  });
}

function packageOf(purl: string): VexStatement["package"] {
  try {
    const parsed = parsePackageUrl(purl);
    const name = packageNameOf(parsed);
    return name === null ? null : { identity: packageIdentity(name), version: parsed.version };
  } catch (error) {
    if (error instanceof PackageUrlError) return null;
    throw error;
  }
}

/** A reference is the bom-ref of a component, its package URL, or either behind the `#` of a BOM-Link. */
function purlOf(ref: string, purls: ReadonlyMap<string, string>): string {
  const own = ref.startsWith("urn:cdx:") ? decoded(ref.slice(ref.indexOf("#") + 1)) : ref;
  return purls.get(own) ?? own;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
