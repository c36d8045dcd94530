/**
 * What a project is made of: its components in pages, with what is known of each, the licences among them, the SBOMs that are kept, and what
 * changed between two of them.
 *
 * The bytes of an uploaded SBOM are not kept, only what was read from it: the list names the SHA-256, by which a file can be recognised. Two
 * SBOMs are compared by package and version, not by the text of the documents, so that another tool's order changes nothing.
 */
import { Type, type Static } from "@sinclair/typebox";
import { DomainError } from "../../accounts/errors.ts";
import type { Queries } from "../../backing/backing.ts";
import { text, textOrNull } from "../../http/json-schema.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { Page } from "../fields.ts";
import { ecosystem as ecosystemField, ecosystemNameOf } from "../findings/schema.ts";
import { pathStepsMax, sbomsListedMax, versionsShownMax } from "../limits.ts";
import { readPurl } from "../sboms/document.ts";
import { selectPaths } from "../sboms/store.ts";
import type { Ecosystem } from "../versions/ecosystem.ts";
import { versionToMatch } from "../versions/version-to-match.ts";
import { readVersion } from "../versions/version.ts";
import { viewCoverage, withoutAdvisories } from "./coverage.ts";
import * as store from "./inventory-store.ts";
import { ComponentView, type ProjectDetailsView, type ViewSources } from "./schema.ts";

const count = (description: string) => Type.Integer({ description });

export const ComponentPage = Type.Object({
  data: Type.Array(ComponentView, { description: "Components in the order of the SBOM" }),
  total: count("How many match"),
});
export type ComponentPage = Static<typeof ComponentPage>;

interface OfProject {
  workspace: WorkspaceId;
  /** Must exist. */
  project: string;
}

/** @param sbom one of the project's; null: the current one @throws DomainError not_found for another project's SBOM */
export async function listComponents(
  { workspace, project, sbom, filter, page }: OfProject & { sbom: string | null; filter: store.ComponentFilter; page: Page },
  sources: ViewSources,
): Promise<ComponentPage> {
  const chosen = await chosenSbom({ workspace, project, sbom }, sources.sql);
  if (chosen === null) return { data: [], total: 0 };
  const metrics = await viewCoverage(chosen, sources);
  const data = await viewComponents({ project, sbom: chosen, metrics, filter, page }, sources.sql);
  return { data, total: await store.countComponents({ project, sbom: chosen, filter }, sources.sql) };
}

interface ShownComponents {
  project: string;
  sbom: string;
  metrics: Pick<ProjectDetailsView["metrics"], "coverage">;
  filter: store.ComponentFilter;
  page: Page;
}

export async function viewComponents({ metrics, ...shown }: ShownComponents, sql: Queries): Promise<ComponentView[]> {
  const blind = withoutAdvisories({ metrics });
  const rows = await store.selectComponentPage(shown, sql);
  const reached = rows.filter(({ relation, via }) => relation !== "unknown" || via !== null).map(({ position }) => position);
  const paths = await selectPaths({ sbom: shown.sbom, positions: reached, stepsMax: pathStepsMax }, sql);
  return rows.map((row) => {
    const { names, whole } = paths.get(row.position) ?? { names: [], whole: true };
    const { name, version, type, purl, licenses, relation, scope, vulnerabilities } = row;
    const ecosystem = row.ecosystem && ecosystemNameOf(row.ecosystem);
    const path = whole ? names : ["…", ...names];
    return { name, version, type, ecosystem, purl, licenses, relation, path, scope, vulnerabilities, match: matchOf(row, blind) };
  });
}

/** @param blind the ecosystems without advisories, and the reasons */
function matchOf(
  { ecosystem, purl, version, unknown }: store.ComponentRow,
  blind: ReadonlyMap<Ecosystem, string>,
): ComponentView["match"] {
  if (ecosystem === null) return { state: "not_matched", reason: withoutEcosystem(purl) };
  const why = blind.get(ecosystem);
  if (why !== undefined) return { state: "not_matched", reason: why };
  const reason = unknown ?? unreadable({ ecosystem, version, purl });
  return { state: reason === null ? "known" : "unknown", reason };
}

function withoutEcosystem(purl: string | null): string {
  if (purl === null) return "it has no package URL";
  const { reason } = readPurl(purl);
  if (reason === null) return "there are no advisories for its kind of package";
  return `its package URL cannot be read: ${reason.slice(0, 1).toLowerCase()}${reason.slice(1)}`;
}

function unreadable({
  ecosystem,
  version,
  purl,
}: Pick<store.ComponentRow, "version" | "purl"> & { ecosystem: Ecosystem }): string | null {
  if (version === null) return "the document names no version";
  const read = readVersion({ scheme: ecosystem, text: versionToMatch({ ecosystem, version, purl }) });
  return read.known ? null : "its version cannot be read";
}

// Licences

export const LicenseView = Type.Object({
  license: text("Its id, name or expression; empty: components without a licence"),
  components: count("Components that have it"),
});
export type LicenseView = Static<typeof LicenseView>;

/** The licences of the current SBOM, the most frequent first. */
export async function listLicenses(of: OfProject, sql: Queries): Promise<LicenseView[]> {
  const sbom = await chosenSbom({ ...of, sbom: null }, sql);
  return sbom === null ? [] : store.selectLicenses(sbom, sql);
}

// The SBOMs that are kept, and the difference between two of them.

export const KeptSbomView = Type.Object({
  id: text("The SBOM's id"),
  current: Type.Boolean({ description: "Whether it is the current one, which is scanned" }),
  format: text("Its format"),
  spec_version: text("Version of the format"),
  name: textOrNull("Its name for itself"),
  filename: textOrNull("Name of the uploaded file"),
  components: count("Its components, including nested ones, without the root"),
  sha256: text("SHA-256 of the uploaded bytes, in hexadecimal"),
  uploaded_by: text("Who uploaded these bytes first: an e-mail address, or operator"),
  uploaded_at: text("When, ISO 8601 in UTC"),
});
export type KeptSbomView = Static<typeof KeptSbomView>;

/** Newest first. */
export async function listSboms(of: OfProject, sql: Queries): Promise<KeptSbomView[]> {
  return (await store.selectSboms({ ...of, limit: sbomsListedMax }, sql)).map((row) => ({
    id: row.id,
    current: row.current,
    format: row.format,
    spec_version: row.specVersion,
    name: row.name,
    filename: row.filename,
    components: row.components,
    sha256: row.sha256,
    uploaded_by: row.createdBy,
    uploaded_at: isoTime(row.createdAt.getTime()),
  }));
}

const versions = (description: string) =>
  Type.Array(Type.String(), { description: `${description}, at most ${versionsShownMax}; a version may be empty` });

export const DifferenceView = Type.Object({
  before: text("Id of the earlier SBOM"),
  after: text("Id of the later SBOM"),
  added: count("Packages that only the later one has"),
  removed: count("Packages that only the earlier one has"),
  changed: count("Packages with other versions"),
  data: Type.Array(
    Type.Object({
      component: text("Name of the package"),
      ecosystem: ecosystemField,
      before: versions("Its versions in the earlier SBOM"),
      after: versions("Its versions in the later SBOM"),
    }),
    { description: "These packages, by name" },
  ),
});
export type DifferenceView = Static<typeof DifferenceView>;

/** @throws DomainError not_found for an SBOM of another project, or one that is no longer kept */
export async function compareSboms(
  { workspace, project, before, after, page }: OfProject & { before: string; after: string; page: Page },
  sql: Queries,
): Promise<DifferenceView> {
  for (const [field, id] of Object.entries({ before, after }))
    await requireSbom({ workspace, project, sbom: id }, { field, sql });
  const { rows, ...counts } = await store.selectDifference({ before, after, page }, sql);
  const data = rows.map((row) => ({ ...row, ecosystem: row.ecosystem && ecosystemNameOf(row.ecosystem) }));
  return { before, after, ...counts, data };
}

/** null: the project has none yet. */
async function chosenSbom(named: OfProject & { sbom: string | null }, sql: Queries): Promise<string | null> {
  if (named.sbom !== null) await requireSbom({ ...named, sbom: named.sbom }, { field: "sbom", sql });
  return (await store.selectSbomOf(named, sql)) ?? null;
}

async function requireSbom(named: OfProject & { sbom: string }, { field, sql }: { field: string; sql: Queries }): Promise<void> {
  if ((await store.selectSbomOf(named, sql)) !== undefined) return;
  throw new DomainError("not_found", `The project has no SBOM with the id "${named.sbom}"`, { field });
}
