/**
 * CSAF 2.0 and 2.1 of the profile VEX: its statements, and a project's decisions as a document of 2.0.
 * Sources: https://docs.oasis-open.org/csaf/csaf/v2.0/csaf-v2.0.html, https://docs.oasis-open.org/csaf/csaf/v2.1/csaf-v2.1.html
 *
 * The product tree names products by id. A package URL in `product_identification_helper` says which package one is; under
 * `product_version_range` the branch's name has its versions. A relationship, or a path in 2.1, makes a product of a component and the
 * product that it is in: the statement is about the component. `recommended` names versions to change to and says nothing about the
 * installed one. A product with contradicting statuses (mandatory test 6.1.6) refuses the document.
 *
 * `known_affected` leaves a finding open, unless a remediation says what is done: `no_fix_planned` alone accepts the risk, any other but
 * `none_available` is in progress.
 */
import { Type, type Static } from "@sinclair/typebox";
import { isJsonObject, type JsonObject } from "../../../http/json.ts";
import { text } from "../../../http/json-schema.ts";
import { isoTime } from "../../../kernel/clock.ts";
import { vexProductsMax } from "../limits.ts";
import { wordOf, type VexContent, type VexGroup } from "./content.ts";
import {
  aboutText,
  idsOf,
  listAt,
  packageOf,
  refused,
  timeOf,
  type About,
  type NamedPackage,
  type VexStatement,
} from "./statement.ts";
import { cleanNote, decisionOf, impactOf, notAffected, sharedJustifications, type Decided } from "./words.ts";

export function* readCsaf(document: JsonObject): Generator<VexStatement | null> {
  const products = yield* productsOf(document["product_tree"]);
  const head = objectAt(document, "document");
  const { current_release_date: released, initial_release_date: first } = objectAt(head, "tracking");
  for (const [index, entry] of listAt(document, "vulnerabilities", "").entries()) {
    yield null;
    const at = `vulnerabilities[${index}]`;
    if (!isJsonObject(entry)) throw refused(at, "must be an object");
    const others = listAt(entry, "ids", at).map((one) => (isJsonObject(one) ? one["text"] : null));
    const ids = idsOf(entry["cve"], others, `${at}.cve`);
    const facts = yield* factsOf(entry, { at, groups: products.groups });
    for (const [id, status] of yield* statusesOf(entry, at)) {
      const own = facts.get(id) ?? noFacts;
      const { ref, about } = products.named.get(id) ?? { ref: id, about: { kind: "nothing" as const } };
      yield { ids, ref, about, at: timeOf(own.flagged, released, first), decided: decidedOf(status, own) };
    }
  }
}

function objectAt(object: JsonObject, field: string): JsonObject {
  const value = object[field];
  return isJsonObject(value) ? value : {};
}

// The product tree.

type Named = Pick<VexStatement, "ref" | "about">;

interface Products {
  named: Map<string, Named>;
  groups: Map<string, string[]>;
}

function* productsOf(tree: unknown): Generator<null, Products> {
  if (!isJsonObject(tree)) throw refused("product_tree", "must be an object");
  const products: Products = { named: new Map(), groups: new Map() };
  const add = (product: unknown, about?: (own: About) => About): void => {
    if (!isJsonObject(product) || typeof product["product_id"] !== "string") return;
    const { ref, about: own } = productOf(product);
    products.named.set(product["product_id"], { ref, about: about === undefined ? own : about(own) });
    if (products.named.size > vexProductsMax) throw refused("product_tree", `has more than ${vexProductsMax} products: split it`);
  };
  const branches = [...listAt(tree, "branches", "product_tree")];
  for (let branch = branches.pop(); branch !== undefined; branch = branches.pop()) {
    yield null;
    if (!isJsonObject(branch)) continue;
    const { category, name } = branch;
    add(branch["product"], category === "product_version_range" ? (own) => withVersions(own, name) : undefined);
    for (const nested of listAt(branch, "branches", "product_tree.branches")) branches.push(nested);
  }
  for (const product of listAt(tree, "full_product_names", "product_tree")) {
    yield null;
    add(product);
  }
  for (const [field, component, within] of [
    ["relationships", "product_reference", "relates_to_product_reference"],
    ["product_paths", "beginning_product_reference", "subpaths"],
  ] as const) {
    for (const joint of listAt(tree, field, "product_tree")) {
      yield null;
      if (!isJsonObject(joint)) continue;
      const part = products.named.get(String(joint[component]))?.about ?? { kind: "nothing" as const };
      const whole = products.named.get(wholeOf(joint[within]))?.about;
      add(joint["full_product_name"], () => partOf(part, whole));
    }
  }
  for (const group of listAt(tree, "product_groups", "product_tree")) {
    yield null;
    if (isJsonObject(group)) products.groups.set(String(group["group_id"]), textsOf(group["product_ids"]));
  }
  return products;
}

/** The product's id of a relationship, or of the last step of a path. */
function wholeOf(given: unknown): string {
  const last: unknown = Array.isArray(given) ? given.at(-1) : given;
  return String(isJsonObject(last) ? last["next_product_reference"] : last);
}

/** CSAF 2.0 has one package URL, 2.1 a list of those that name the same product. */
function productOf(product: JsonObject): Named {
  const { purl, purls } = objectAt(product, "product_identification_helper");
  const named = [purl, ...(Array.isArray(purls) ? purls : [])].find((one) => packageOf(one) !== null);
  if (typeof named === "string") return { ref: named, about: aboutText(named) };
  return {
    ref: typeof product["name"] === "string" ? product["name"] : String(product["product_id"]),
    about: { kind: "nothing" },
  };
}

function withVersions(own: About, range: unknown): About {
  return own.kind === "package" ? { ...own, versions: [{ text: String(range), isRange: true, reached: true }] } : own;
}

function partOf(part: About, whole: About | undefined): About {
  const within: NamedPackage | null = whole?.kind === "package" ? whole.package : null;
  return part.kind === "package" ? { ...part, within } : part;
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

// What a vulnerability says about its products.

type Status = "affected" | "not_affected" | "fixed" | "open";

const statuses: Record<string, Status> = {
  first_affected: "affected",
  known_affected: "affected",
  last_affected: "affected",
  known_not_affected: "not_affected",
  first_fixed: "fixed",
  fixed: "fixed",
  under_investigation: "open",
  unknown: "open",
};

function* statusesOf(entry: JsonObject, at: string): Generator<null, Map<string, Status>> {
  const found = new Map<string, Status>();
  const listed = objectAt(entry, "product_status");
  for (const [field, status] of Object.entries(statuses)) {
    for (const id of textsOf(listed[field])) {
      const other = found.get(id);
      if (other !== undefined && other !== status)
        throw refused(`${at}.product_status`, `has two statuses for "${id}", which contradict each other`);
      found.set(id, status);
    }
    yield null;
  }
  return found;
}

/** What flags, threats and remediations say about one product. */
interface Facts {
  label: unknown;
  /** When the flag was set. */
  flagged: unknown;
  impacts: string[];
  remediations: { category: unknown; details: unknown }[];
}

const noFacts: Facts = { label: null, flagged: null, impacts: [], remediations: [] };

function* factsOf(
  entry: JsonObject,
  { at, groups }: { at: string; groups: Products["groups"] },
): Generator<null, Map<string, Facts>> {
  const facts = new Map<string, Facts>();
  let named = 0;
  for (const field of ["flags", "threats", "remediations"]) {
    for (const [index, given] of listAt(entry, field, at).entries()) {
      yield null;
      if (!isJsonObject(given)) throw refused(`${at}.${field}[${index}]`, "must be an object");
      for (const ids of [textsOf(given["product_ids"]), ...textsOf(given["group_ids"]).map((id) => groups.get(id) ?? [])]) {
        yield null;
        named += ids.length;
        if (named > vexProductsMax) throw refused(`${at}.${field}`, `names products more than ${vexProductsMax} times: split it`);
        for (const id of ids) facts.set(id, withFact(facts.get(id), { field, given }));
      }
    }
  }
  return facts;
}

function withFact(before: Facts | undefined, { field, given }: { field: string; given: JsonObject }): Facts {
  const own = before ?? { ...noFacts, impacts: [], remediations: [] };
  const { label, date, category, details } = given;
  if (field === "flags") [own.label, own.flagged] = [label, date];
  if (field === "threats" && category === "impact" && typeof details === "string") own.impacts.push(details);
  if (field === "remediations") own.remediations.push({ category, details });
  return own;
}

function decidedOf(status: Status, { label, impacts, remediations }: Facts): Decided {
  const [note = null] = impacts.slice(1).map(cleanNote);
  if (status === "not_affected") return decisionOf(notAffected({ label, text: impacts[0], note }));
  const details = remediations.map((one) => cleanNote(one.details)).find((one) => one !== null && !ownWords.has(one));
  const detail = cleanNote(impacts[0]) ?? details ?? null;
  const rest = detail === null ? {} : { detail };
  if (status === "fixed") return decisionOf({ state: "resolved", ...rest });
  if (status === "open") return decisionOf({ state: "in_triage", ...rest });
  const categories = remediations.map(({ category }) => category).filter((one) => one !== "none_available");
  const accepted = categories.length > 0 && categories.every((one) => one === "no_fix_planned");
  const response = categories.length === 0 ? [] : [accepted ? "will_not_fix" : "update"];
  return decisionOf({ state: "exploitable", response, ...rest });
}

// A project's decisions as a document.

/** What is done about an affected component, by its status: the category and the words of its remediation. */
const actions = {
  in_progress: ["vendor_fix", "The component will be updated"],
  ignored: ["no_fix_planned", "The risk is accepted"],
} as const;
const ownWords: ReadonlySet<string> = new Set(Object.values(actions).map(([, details]) => details));

const ProductIds = Type.Array(Type.String(), { description: "Ids of the product tree" });
const productName = {
  name: text("Its name"),
  product_id: text("Its id in the document"),
  product_identification_helper: Type.Optional(
    Type.Object({ purl: text("Its package URL") }, { description: "What identifies it" }),
  ),
};
const dated = (description: string) => text(`${description}, ISO 8601 in UTC`);

const Vulnerability = Type.Object({
  cve: Type.Optional(text("Its CVE id")),
  ids: Type.Optional(
    Type.Array(Type.Object({ system_name: text("The database"), text: text("The id") }), { description: "Its other ids" }),
  ),
  notes: Type.Array(
    Type.Object({ category: Type.Literal("description", { description: "description" }), text: text("The words") }),
    { description: "One" },
  ),
  product_status: Type.Object(
    {
      fixed: Type.Optional(ProductIds),
      known_affected: Type.Optional(ProductIds),
      known_not_affected: Type.Optional(ProductIds),
      under_investigation: Type.Optional(ProductIds),
    },
    { description: "What was decided" },
  ),
  flags: Type.Optional(
    Type.Array(
      Type.Object({
        label: wordOf(sharedJustifications, "Why"),
        date: Type.Optional(dated("When it was decided")),
        product_ids: ProductIds,
      }),
      { description: "Why products are not affected" },
    ),
  ),
  threats: Type.Optional(
    Type.Array(
      Type.Object({
        category: Type.Literal("impact", { description: "impact" }),
        details: text("Why, and the note"),
        product_ids: ProductIds,
      }),
      { description: "Why products are not affected, and notes" },
    ),
  ),
  remediations: Type.Optional(
    Type.Array(
      Type.Object({
        category: wordOf(["vendor_fix", "no_fix_planned"], "What is done"),
        details: text("In words"),
        product_ids: ProductIds,
      }),
      { description: "What is done about affected products" },
    ),
  ),
});
type Vulnerability = Static<typeof Vulnerability>;

export const CsafDocument = Type.Object(
  {
    document: Type.Object(
      {
        category: Type.Literal("csaf_vex", { description: "The profile VEX" }),
        csaf_version: Type.Literal("2.0", { description: "2.0" }),
        publisher: Type.Object(
          {
            category: Type.Literal("vendor", { description: "vendor" }),
            name: text("The workspace's name"),
            namespace: text("The service's address"),
          },
          { description: "Who says it" },
        ),
        title: text("With the project's name"),
        tracking: Type.Object(
          {
            current_release_date: dated("Now"),
            id: text("A new one for each document"),
            initial_release_date: dated("Now"),
            revision_history: Type.Array(Type.Object({ date: dated("Now"), number: text("1"), summary: text("What happened") }), {
              description: "One",
            }),
            status: Type.Literal("final", { description: "final" }),
            version: text("1"),
          },
          { description: "Its id and history" },
        ),
      },
      { description: "What it is about" },
    ),
    product_tree: Type.Object(
      {
        full_product_names: Type.Array(Type.Object(productName), {
          description: "The project, and the components with findings",
        }),
        relationships: Type.Array(
          Type.Object({
            category: Type.Literal("default_component_of", { description: "default_component_of" }),
            product_reference: text("The component"),
            relates_to_product_reference: text("The project"),
            full_product_name: Type.Object(
              { name: productName.name, product_id: productName.product_id },
              { description: "The part" },
            ),
          }),
          { description: "The components as parts of the project" },
        ),
      },
      { description: "The products" },
    ),
    vulnerabilities: Type.Array(Vulnerability, { description: "One for each vulnerability" }),
  },
  { description: "A CSAF document" },
);

/** @param groups at least one: the profile has no document without a vulnerability. Yields between two, so that others can work. */
export function* csafOf({
  content,
  groups,
}: {
  content: VexContent;
  groups: readonly VexGroup[];
}): Generator<null, Static<typeof CsafDocument>> {
  const parts = new Map(content.components.map(({ ref }, index) => [ref, `part-${index + 1}`]));
  const vulnerabilities: Vulnerability[] = [];
  for (const [, same] of Map.groupBy(groups, ({ id }) => id)) {
    vulnerabilities.push(vulnerabilityOf(same, parts));
    yield null;
  }
  const now = isoTime(content.at);
  const publisher = { category: "vendor" as const, name: content.workspace, namespace: content.publicUrl };
  const revision = { date: now, number: "1", summary: "Exported by Weir" };
  const tracking = {
    current_release_date: now,
    id: content.serial,
    initial_release_date: now,
    revision_history: [revision],
    status: "final" as const,
    version: "1",
  };
  return {
    document: { category: "csaf_vex", csaf_version: "2.0", publisher, title: `Vulnerabilities of ${content.name}`, tracking },
    product_tree: treeOf(content, parts),
    vulnerabilities,
  };
}

function treeOf({ root, name: project, components }: VexContent, parts: ReadonlyMap<string, string>) {
  const helper = (purl: string | null) => purl !== null && { product_identification_helper: { purl } };
  return {
    full_product_names: [
      { name: project, product_id: "project", ...helper(root) },
      ...components.map(({ ref, name, version, purl }) => ({
        name: `${name} ${version}`.trim(),
        product_id: `component-of-${parts.get(ref)}`,
        ...helper(purl),
      })),
    ],
    relationships: components.map(({ ref, name, version }) => ({
      category: "default_component_of" as const,
      product_reference: `component-of-${parts.get(ref)}`,
      relates_to_product_reference: "project",
      full_product_name: { name: `${name} ${version} in ${project}`, product_id: `${parts.get(ref)}` },
    })),
  };
}

/** @param same the groups of one vulnerability */
function vulnerabilityOf(same: readonly VexGroup[], parts: ReadonlyMap<string, string>): Vulnerability {
  const [{ id = "", aliases = [], description = "" } = {}] = same;
  const listed: Required<Pick<Vulnerability, "flags" | "threats" | "remediations">> = {
    flags: [],
    threats: [],
    remediations: [],
  };
  const status: Vulnerability["product_status"] = {};
  const told = new Set<string>();
  for (const { decided, decidedAt, components } of same) {
    const all = components.map(({ ref }) => `${parts.get(ref)}`);
    const product_ids = all.filter((part) => !told.has(part));
    if (product_ids.length === 0) continue;
    for (const part of product_ids) told.add(part);
    const field = statusOf(decided);
    status[field] = [...(status[field] ?? []), ...product_ids];
    if (field === "known_not_affected") {
      const { label, text: details } = impactOf(decided);
      if (label !== null) listed.flags.push({ label, ...(decidedAt && { date: isoTime(decidedAt.getTime()) }), product_ids });
      listed.threats.push({ category: "impact", details, product_ids });
    }
    if (decided.note !== null) listed.threats.push({ category: "impact", details: decided.note, product_ids });
    if (decided.status !== "in_progress" && decided.status !== "ignored") continue;
    if (field !== "known_affected") continue;
    const [category, details] = actions[decided.status];
    listed.remediations.push({ category, details, product_ids });
  }
  const named = [id, ...aliases];
  const cve = named.find((one) => cveId.test(one));
  const ids = named.filter((one) => one !== cve).map((one) => ({ system_name: one.split("-", 1)[0] ?? "", text: one }));
  return {
    ...(cve !== undefined && { cve }),
    ...(ids.length > 0 && { ids }),
    notes: [{ category: "description", text: description === "" ? id : description }],
    product_status: status,
    ...Object.fromEntries(Object.entries(listed).filter(([, entries]) => entries.length > 0)),
  };
}

/** As the schema of CSAF has it. */
const cveId = /^CVE-[0-9]{4}-[0-9]{4,}$/;

function statusOf({ status, falsePositive }: Decided): keyof Vulnerability["product_status"] {
  if (falsePositive || status === "not_affected") return "known_not_affected";
  if (status === "resolved") return "fixed";
  return status === "open" ? "under_investigation" : "known_affected";
}
