/**
 * CycloneDX VEX in JSON, https://cyclonedx.org/docs/1.6/json/#vulnerabilities: its statements, and a project's decisions as a document.
 *
 * `affects` names components of the document by bom-ref, nested ones too, and its product, `metadata.component`; or those of another
 * document by BOM-Link; or, against the schema and often, by package URL. Without it a vulnerability is about the whole product. Where it
 * lists versions, the decision is about these alone: `not_affected`, `false_positive` and `resolved` about the unaffected ones if some are
 * called so, other states about those that are not. Vulnerabilities without an analysis decide nothing.
 */
import { Type, type Static } from "@sinclair/typebox";
import { isJsonObject, type JsonObject } from "../../../http/json.ts";
import { text } from "../../../http/json-schema.ts";
import { isoTime } from "../../../kernel/clock.ts";
import { justifications } from "../decision.ts";
import { severities } from "../schema.ts";
import { wordOf, type VexContent, type VexGroup } from "./content.ts";
import * as statement from "./statement.ts";
import { analysisOf, analysisStates, decisionOf, type Analysis } from "./words.ts";

export function* readCycloneDx(document: JsonObject): Generator<statement.VexStatement | null> {
  const known = yield* componentsOf(document);
  const metadata = isJsonObject(document["metadata"]) ? document["metadata"] : {};
  for (const [index, entry] of statement.listAt(document, "vulnerabilities", "").entries()) {
    yield null;
    const at = `vulnerabilities[${index}]`;
    if (!isJsonObject(entry)) throw statement.refused(at, "must be an object");
    const { analysis: given, references } = entry;
    if (given === undefined) continue;
    const same = Array.isArray(references) ? references.map((one) => (isJsonObject(one) ? one["id"] : null)) : [];
    const ids = statement.idsOf(entry["id"], same, `${at}.id`);
    if (!isJsonObject(given)) throw statement.refused(`${at}.analysis`, "must be an object");
    const analysis = analysisIn(given, `${at}.analysis`);
    const made = statement.timeOf(given["lastUpdated"], given["firstIssued"], entry["updated"], metadata["timestamp"]);
    const of = { ids, at: made, decided: decisionOf(analysis) };
    const affects = statement.listAt(entry, "affects", at);
    if (affects.length === 0) yield { ...of, ref: null, about: known.product };
    for (const [position, affected] of affects.entries()) {
      const place = `${at}.affects[${position}]`;
      const ref = isJsonObject(affected) ? affected["ref"] : undefined;
      if (!isJsonObject(affected) || typeof ref !== "string") throw statement.refused(`${place}.ref`, "must be a text");
      // lib4vex writes the only one without a list.
      const { versions: listed } = affected;
      const versions = rulesOf(isJsonObject(listed) ? [listed] : statement.listAt(affected, "versions", place), {
        state: analysis.state,
        at: `${place}.versions`,
      });
      yield { ...of, ref, about: aboutOf(ref, { known, versions }) };
    }
  }
}

interface Known {
  /** Of the document, in lower case and without `urn:uuid:`; null: it has none. */
  serial: string | null;
  product: Extract<statement.About, { kind: "product" }>;
  productRef: unknown;
  /** Package URLs by bom-ref; null: the component has none. */
  purls: Map<string, string | null>;
}

/** All components of the document, nested ones too. */
function* componentsOf({ serialNumber, metadata, components }: JsonObject): Generator<null, Known> {
  const root = isJsonObject(metadata) && isJsonObject(metadata["component"]) ? metadata["component"] : {};
  const purls: Known["purls"] = new Map();
  const lists: unknown[] = [components, root["components"]];
  for (let list = lists.pop(); lists.length > 0 || list !== undefined; list = lists.pop()) {
    if (!Array.isArray(list)) continue;
    for (const component of list) {
      yield null;
      if (!isJsonObject(component)) continue;
      const { "bom-ref": ref, purl, components: nested } = component;
      if (typeof ref === "string") purls.set(ref, typeof purl === "string" ? purl : null);
      if (nested !== undefined) lists.push(nested);
    }
  }
  const product = {
    kind: "product" as const,
    product: statement.packageOf(root["purl"]) ?? statement.productNamed(root["name"], root["version"]),
    versions: [],
  };
  return { serial: statement.serialOf(serialNumber), product, productRef: root["bom-ref"], purls };
}

function analysisIn(given: JsonObject, at: string): Analysis {
  const { state: word, justification: reason, response, detail } = given;
  const state = analysisStates.find((one) => one === word);
  if (state === undefined) throw statement.refused(`${at}.state`, `must be one of ${analysisStates.join(", ")}`);
  const justification = justifications.find((one) => one === reason);
  return {
    state,
    ...(justification && { justification }),
    ...(Array.isArray(response) && { response: response.map(String) }),
    ...(typeof detail === "string" && { detail }),
  };
}

const versionStatuses = ["affected", "unaffected", "unknown"] as const;

function rulesOf(listed: readonly unknown[], { state, at }: { state: Analysis["state"]; at: string }): statement.VersionRule[] {
  const rules = listed.map((entry, index) => {
    const { version, range, status: given = "affected" } = isJsonObject(entry) ? entry : {};
    const text = version ?? range;
    if (typeof text !== "string") throw statement.refused(`${at}[${index}]`, "must have a version or a range");
    const status = versionStatuses.find((one) => one === given);
    if (status === undefined) throw statement.refused(`${at}[${index}].status`, `must be one of ${versionStatuses.join(", ")}`);
    return { text, isRange: version === undefined, status };
  });
  const isHarmless = state !== "exploitable" && state !== "in_triage";
  const meansUnaffected = isHarmless && rules.some(({ status }) => status === "unaffected");
  return rules.map(({ status, ...rule }) => ({ ...rule, reached: (status === "unaffected") === meansUnaffected }));
}

/** A link to the document itself, or a bom-ref of it, is resolved here; other links first by the project's SBOM. */
function aboutOf(
  ref: string,
  { known, versions }: { known: Known; versions: readonly statement.VersionRule[] },
): statement.About {
  const link = statement.bomLinkOf(ref);
  const own = ownOf(link === null ? ref : link.bomRef, { known, versions });
  if (link === null || link.serial === known.serial) return own ?? statement.aboutText(ref, versions);
  const named = statement.aboutText(ref, versions);
  return own !== null && named.kind === "reference" ? { ...named, otherwise: own } : named;
}

/** @returns null for what the document does not have */
function ownOf(
  ref: string | null,
  { known, versions }: { known: Known; versions: readonly statement.VersionRule[] },
): statement.About | null {
  if (ref === null) return known.serial === null ? null : { ...known.product, versions };
  if (ref === known.productRef) return { ...known.product, versions };
  const named = statement.packageOf(known.purls.get(ref));
  return named && { kind: "package", package: named, versions, within: null };
}

// A project's decisions as a document.

const Component = Type.Object({
  type: Type.Literal("library", { description: "library" }),
  "bom-ref": text("What `affects` refers to: its package URL, or its name and version"),
  name: text("Its name"),
  version: text("Its version; empty: the SBOM names none"),
  purl: Type.Optional(text("Its package URL")),
});

const Rating = Type.Object({
  severity: wordOf([...severities, "unknown"], "The severity"),
  score: Type.Optional(Type.Number({ description: "The CVSS score" })),
});

const Vulnerability = Type.Object({
  id: text("Its CVE id, or another id"),
  ratings: Type.Array(Rating, { description: "One" }),
  recommendation: Type.Optional(text("The version to upgrade to")),
  analysis: Type.Object(
    {
      state: wordOf(analysisStates, "What was decided"),
      justification: Type.Optional(wordOf(justifications, "Why it is not affected")),
      response: Type.Optional(Type.Array(Type.String(), { description: "What is done" })),
      detail: Type.Optional(text("The note")),
      lastUpdated: Type.Optional(text("When it was decided, ISO 8601 in UTC")),
    },
    { description: "The decision" },
  ),
  affects: Type.Array(Type.Object({ ref: text("A component's bom-ref") }), { description: "The components that have it" }),
});

export const CycloneDxDocument = Type.Object(
  {
    bomFormat: Type.Literal("CycloneDX", { description: "CycloneDX" }),
    specVersion: Type.Literal("1.6", { description: "1.6" }),
    serialNumber: text("A new one for each document"),
    version: Type.Integer({ description: "1" }),
    metadata: Type.Object(
      {
        timestamp: text("Now, ISO 8601 in UTC"),
        component: Type.Object(
          { type: Type.Literal("application", { description: "application" }), name: text("The project's name") },
          { description: "The project" },
        ),
      },
      { description: "What it is about" },
    ),
    components: Type.Array(Component, { description: "The components with findings" }),
    vulnerabilities: Type.Array(Vulnerability, { description: "Findings with the same decision, together" }),
  },
  { description: "A CycloneDX document" },
);
export type CycloneDxDocument = Static<typeof CycloneDxDocument>;

/** Yields between two vulnerabilities, so that others can work. */
export function* cycloneDxOf({
  content,
  groups,
}: {
  content: VexContent;
  groups: readonly VexGroup[];
}): Generator<null, CycloneDxDocument> {
  const vulnerabilities: Static<typeof Vulnerability>[] = [];
  for (const group of groups) {
    vulnerabilities.push(vulnerabilityOf(group));
    yield null;
  }
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${content.serial}`,
    version: 1,
    metadata: { timestamp: isoTime(content.at), component: { type: "application", name: content.name } },
    components: content.components.map(({ ref, name, version, purl }) => ({
      type: "library",
      "bom-ref": ref,
      name,
      version,
      ...(purl !== null && { purl }),
    })),
    vulnerabilities,
  };
}

function vulnerabilityOf({
  id,
  severity,
  score,
  fixVersion,
  decidedAt,
  decided,
  components,
}: VexGroup): Static<typeof Vulnerability> {
  return {
    id,
    ratings: [{ severity: severity ?? "unknown", ...(score !== null && { score }) }],
    ...(fixVersion !== null && { recommendation: `Upgrade to ${fixVersion}` }),
    analysis: { ...analysisOf(decided), ...(decidedAt && { lastUpdated: isoTime(decidedAt.getTime()) }) },
    affects: components.map(({ ref }) => ({ ref })),
  };
}
