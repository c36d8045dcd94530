/**
 * OpenVEX 0.2.0, https://github.com/openvex/spec/blob/main/OPENVEX-SPEC.md: its statements, and a project's decisions as a document.
 *
 * A product stands for itself, or, with subcomponents, for these as its parts. A statement without a time has the document's. Of two
 * statements about a product the later one counts, whatever their order.
 *
 * `under_investigation` and `affected` leave a finding open: that actions are recommended does not say that anybody takes them. `fixed`
 * resolves it. What Weir means by `affected` besides, an update in progress or an accepted risk, is in the action statement.
 */
import { Type, type Static } from "@sinclair/typebox";
import { isJsonObject, type JsonObject } from "../../../http/json.ts";
import { text } from "../../../http/json-schema.ts";
import { isoTime } from "../../../kernel/clock.ts";
import { wordOf, type VexContent, type VexGroup } from "./content.ts";
import { aboutText, idsOf, listAt, packageOf, refused, timeOf, type About, type VexStatement } from "./statement.ts";
import { cleanNote, decisionOf, impactOf, notAffected, sharedJustifications, type Decided } from "./words.ts";

export function* readOpenVex(document: JsonObject): Generator<VexStatement | null> {
  for (const [index, entry] of listAt(document, "statements", "").entries()) {
    yield null;
    const at = `statements[${index}]`;
    if (!isJsonObject(entry)) throw refused(at, "must be an object");
    const { vulnerability, timestamp, last_updated: updated } = entry;
    if (!isJsonObject(vulnerability)) throw refused(`${at}.vulnerability`, "must be an object");
    const ids = idsOf(vulnerability["name"], listAt(vulnerability, "aliases", `${at}.vulnerability`), `${at}.vulnerability.name`);
    const of = { ids, at: timeOf(updated, timestamp, document["timestamp"]), decided: decidedOf(entry, at) };
    for (const [position, product] of listAt(entry, "products", at).entries()) {
      for (const named of namedIn(product, `${at}.products[${position}]`)) yield { ...of, ...named };
    }
  }
}

const statuses = ["not_affected", "affected", "fixed", "under_investigation"] as const;

const actions = { in_progress: "Update the component", ignored: "None: the risk is accepted" } as const;

function decidedOf(entry: JsonObject, at: string): Decided {
  const { status: given, justification: label, impact_statement: impact, action_statement: action } = entry;
  const status = statuses.find((one) => one === given);
  const note = cleanNote(entry["status_notes"]);
  if (status === "not_affected") return decisionOf(notAffected({ label, text: impact, note }));
  const said = cleanNote(action);
  const isOurs = said === actions.in_progress || said === actions.ignored;
  const detail = note ?? (isOurs ? null : said);
  const rest = detail === null ? {} : { detail };
  if (status === "affected") {
    const response = said === actions.ignored ? ["will_not_fix"] : said === actions.in_progress ? ["update"] : [];
    return decisionOf({ state: "exploitable", response, ...rest });
  }
  if (status === "fixed") return decisionOf({ state: "resolved", ...rest });
  if (status === "under_investigation") return decisionOf({ state: "in_triage", ...rest });
  throw refused(`${at}.status`, `must be one of ${statuses.join(", ")}`);
}

function* namedIn(product: unknown, at: string): Generator<Pick<VexStatement, "ref" | "about">> {
  const { ref, about } = componentOf(product, at);
  const parts = isJsonObject(product) ? listAt(product, "subcomponents", at) : [];
  if (parts.length === 0) yield { ref, about };
  const within = about.kind === "package" ? about.package : null;
  for (const [index, part] of parts.entries()) {
    const { ref: own, about: of } = componentOf(part, `${at}.subcomponents[${index}]`);
    yield { ref: own, about: of.kind === "package" ? { ...of, within } : of };
  }
}

/** The package URL among the identifiers is preferred to the id. */
function componentOf(component: unknown, at: string): { ref: string; about: About } {
  if (!isJsonObject(component)) throw refused(at, "must be an object");
  const { "@id": id, identifiers } = component;
  const purl = isJsonObject(identifiers) ? identifiers["purl"] : undefined;
  if (typeof purl === "string" && packageOf(purl) !== null) return { ref: purl, about: aboutText(purl) };
  if (typeof id === "string") return { ref: id, about: aboutText(id) };
  if (isJsonObject(identifiers)) return { ref: "identifiers without a package URL", about: { kind: "nothing" } };
  throw refused(at, "must have an @id or identifiers");
}

// A project's decisions as a document.

const Product = Type.Object({
  "@id": text("The root of the SBOM by its package URL, or the project"),
  subcomponents: Type.Array(
    Type.Object({
      "@id": text("The component's package URL, or its name and version"),
      identifiers: Type.Optional(Type.Object({ purl: text("The same package URL") }, { description: "What identifies it" })),
    }),
    { description: "The components that have the vulnerability" },
  ),
});

const Statement = Type.Object({
  vulnerability: Type.Object(
    {
      name: text("Its CVE id, or another id"),
      aliases: Type.Optional(Type.Array(Type.String(), { description: "Its other ids" })),
    },
    { description: "The vulnerability" },
  ),
  timestamp: Type.Optional(text("When it was decided, ISO 8601 in UTC; absent: nothing was decided")),
  products: Type.Array(Product, { description: "One: the project" }),
  status: wordOf(statuses, "What was decided"),
  status_notes: Type.Optional(text("The note")),
  justification: Type.Optional(wordOf(sharedJustifications, "Why it is not affected")),
  impact_statement: Type.Optional(text("Why it is not affected, in words")),
  action_statement: Type.Optional(text("What is done about it")),
});

export const OpenVexDocument = Type.Object(
  {
    "@context": Type.Literal("https://openvex.dev/ns/v0.2.0", { description: "OpenVEX 0.2.0" }),
    "@id": text("A new one for each document"),
    author: text("The workspace's name"),
    timestamp: text("Now, ISO 8601 in UTC"),
    version: Type.Integer({ description: "1" }),
    tooling: text("Weir"),
    statements: Type.Array(Statement, { description: "Findings with the same decision, together" }),
  },
  { description: "An OpenVEX document" },
);

/** @param content has a group: the format has no document without a statement */
export function* openVexOf({
  content,
  groups,
}: {
  content: VexContent;
  groups: readonly VexGroup[];
}): Generator<null, Static<typeof OpenVexDocument>> {
  const statements: Static<typeof Statement>[] = [];
  for (const group of groups) {
    statements.push(statementOf(group, content));
    yield null;
  }
  return {
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": `urn:uuid:${content.serial}`,
    author: content.workspace,
    timestamp: isoTime(content.at),
    version: 1,
    tooling: "Weir",
    statements,
  };
}

function statementOf({ id, aliases, decided, decidedAt, components }: VexGroup, content: VexContent): Static<typeof Statement> {
  const product = {
    "@id": content.root ?? `${content.publicUrl}/projects/${content.project}`,
    subcomponents: components.map(({ ref, purl }) => ({ "@id": iriOf(ref), ...(purl !== null && { identifiers: { purl } }) })),
  };
  return {
    vulnerability: { name: id, ...(aliases.length > 0 && { aliases }) },
    ...(decidedAt !== null && { timestamp: isoTime(decidedAt.getTime()) }),
    products: [product],
    ...wordsOf(decided),
    ...(decided.note !== null && { status_notes: decided.note }),
  };
}

function wordsOf(
  decided: Decided,
): Pick<Static<typeof Statement>, "status" | "justification" | "impact_statement" | "action_statement"> {
  const { status, falsePositive } = decided;
  if (falsePositive || status === "not_affected") {
    const { label, text: impact } = impactOf(decided);
    return { status: "not_affected", ...(label !== null && { justification: label }), impact_statement: impact };
  }
  if (status === "resolved") return { status: "fixed" };
  if (status === "open") return { status: "under_investigation" };
  return { status: "affected", action_statement: actions[status] };
}

/** An id has to be an IRI, which a name with a version is not. */
function iriOf(ref: string): string {
  return ref.startsWith("pkg:") ? ref : `urn:weir:component:${encodeURIComponent(ref)}`;
}
