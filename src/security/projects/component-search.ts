/**
 * Where a component is: the search in the current SBOMs of all projects of a workspace, for the hour in which a vulnerability becomes known
 * and no advisory names it yet.
 *
 * A package URL finds exactly its package, by the rules of its ecosystem: any spelling of a PyPI name, any case of a Go module, any
 * spelling of a version. A name finds what it begins, as a whole or as the last part of a name with a group, in any case. Former SBOMs are
 * not searched. A search reads a bounded number of components, and says so when there are more.
 */
import { Type, type Static } from "@sinclair/typebox";
import { DomainError } from "../../accounts/errors.ts";
import type { Queries } from "../../backing/backing.ts";
import { textOrNull } from "../../http/json-schema.ts";
import { listRowsMax } from "../../http/limits.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { lineOf, listData, nextOffset, pageFields, shortPageAnswer, type Page } from "../fields.ts";
import { fitPage, type Shorten } from "../findings/fit-page.ts";
import { listMessage } from "../findings/lists/list-answer.ts";
import { ecosystem, ecosystemNameOf } from "../findings/schema.ts";
import { componentRowsDefault, componentSearchCharactersMax, componentsSearchedMax, findingPageBytesMax } from "../limits.ts";
import { operation, reading, type Scope } from "../operation.ts";
import { readPurl } from "../sboms/document.ts";
import { trimmedEnd } from "../../kernel/text.ts";
import { packageNameOf } from "../versions/ecosystem.ts";
import { printPackageUrl } from "../versions/package-url.ts";
import { versionKey } from "../versions/version-to-match.ts";
import * as store from "./inventory-store.ts";

export const FoundComponent = Type.Object(
  {
    project_id: Type.String({ description: "Id of the project" }),
    project: Type.String({ description: "Name of the project" }),
    component: Type.String({ description: "Name of the component" }),
    version: textOrNull("Its version; null: the SBOM names none"),
    ecosystem,
    purl: textOrNull("Its package URL as the SBOM has it"),
    relation: Type.Unsafe<store.FoundComponentRow["relation"]>(
      Type.Union([Type.Literal("direct"), Type.Literal("transitive"), Type.Literal("unknown")], {
        description: "How the project depends on it: direct if any way is",
      }),
    ),
    open_findings: Type.Integer({ description: "Its findings that are open or in progress; 0 is a verdict only after a scan" }),
    sbom_id: Type.String({ description: "Id of the project's current SBOM" }),
    sbom_uploaded_at: Type.String({ description: "When this SBOM was first uploaded, ISO 8601 in UTC" }),
  },
  { description: "A version of a component in the current SBOM of a project" },
);
export type FoundComponent = Static<typeof FoundComponent>;

const counts = {
  projects: Type.Integer({ description: "Projects that have it" }),
  cut: Type.Boolean({
    description: `Whether more than ${componentsSearchedMax} components were to be read, so that rows, total and projects lack some: give more of the name`,
  }),
};

export const FoundComponentPage = Type.Object({
  data: Type.Array(FoundComponent, { description: "Versions of components, by the names of projects" }),
  total: Type.Integer({ description: "How many rows there are" }),
  ...counts,
});
export type FoundComponentPage = Static<typeof FoundComponentPage>;

export const soughtName = lineOf({
  title: "A name, or a package URL with or without a version",
  min: 1,
  max: componentSearchCharactersMax,
});

interface ComponentSearch {
  workspace: WorkspaceId;
  scope: Scope;
  /** A name, or a package URL. */
  name: string;
  /** Whether a name is the whole name, or its last parts, and not the beginning. */
  isWhole: boolean;
  page: Page;
}

interface Found {
  rows: FoundComponent[];
  total: number;
  projects: number;
  cut: boolean;
  /** Whether texts of these rows were cut. */
  isShortened: boolean;
}

/** @param isForMcp whether the page may have fewer rows @throws DomainError invalid_field for a package URL that cannot be read */
export async function findComponents(
  { name, isWhole, isForMcp, ...search }: ComponentSearch & { isForMcp: boolean },
  sql: Queries,
): Promise<Found> {
  const { rows: items, ...found } = await store.searchComponents({ ...search, sought: soughtBy({ name, isWhole }) }, sql);
  const fitted = fitPage({ items, bytesMax: findingPageBytesMax, isShortened: isForMcp }, viewFound);
  return { ...found, rows: fitted.rows, isShortened: fitted.cut };
}

function soughtBy({ name: given, isWhole }: Pick<ComponentSearch, "name" | "isWhole">): store.SoughtComponent {
  const name = given.trim();
  if (!/^pkg:/i.test(name)) {
    // A group is found by its beginning, with or without the separator behind it.
    const parts = trimmedEnd(trimmedEnd(name, "/"), ":");
    if (!/[^\s/:._-]/.test(parts)) throw wrongName("A name has at least one letter or digit");
    return { kind: "name", name: parts, isWhole, version: null, purl: null };
  }
  const { parsed, reason } = readPurl(name);
  if (parsed === null) throw wrongName(`The package URL cannot be read: ${reason}`);
  const named = packageNameOf(parsed);
  const { version } = parsed;
  if (named !== null) {
    return { kind: "package", named, versionKey: version && versionKey({ ecosystem: named.ecosystem, version }) };
  }
  const purl = printPackageUrl({ ...parsed, version: null, qualifiers: new Map(), subpath: null }).toLowerCase();
  return { kind: "name", name: parsed.name, isWhole: true, version, purl };
}

function wrongName(message: string): DomainError {
  return new DomainError("invalid_field", message, { field: "name" });
}

function viewFound(row: store.FoundComponentRow, shorten: Shorten): FoundComponent {
  return {
    project_id: row.project,
    project: row.projectName,
    component: shorten(row.name, row.purl === null ? "name" : "repeated"),
    version: shorten(row.version, "name"),
    ecosystem: row.ecosystem && ecosystemNameOf(row.ecosystem),
    purl: shorten(row.purl, "name"),
    relation: row.relation,
    open_findings: row.vulnerabilities,
    sbom_id: row.sbom,
    sbom_uploaded_at: isoTime(row.sbomCreatedAt.getTime()),
  };
}

/** What a search does not say by its rows; null: nothing. */
export function cutSentence({ cut }: Pick<Found, "cut">): string | null {
  return cut ? `More than ${componentsSearchedMax} components match, and the rest is left out: give more of the name` : null;
}

export const componentSearch = operation({
  title: "Find a component in all projects",
  description:
    "Lists where a component is: each version of it in the current SBOM of each project of the active scope, direct or transitive, with its open " +
    "findings and the age of the SBOM. A package URL finds exactly its package; a name also what begins with it, such as log4j.",
  annotations: reading,
  addition: true,
  input: Type.Object({
    name: soughtName,
    exact: Type.Optional(
      Type.Boolean({
        title: "Only components of exactly this name, with or without its group",
        description: "true or false",
        default: false,
      }),
    ),
    ...pageFields({ normal: componentRowsDefault, max: listRowsMax }),
  }),
  data: listData("components", FoundComponent, { ...counts, next_offset: nextOffset }),
  async handle({ input: { name, exact = false, limit, offset }, caller: { workspace, scope }, isForMcp, parts: { sql } }) {
    const search = { workspace, scope, name, isWhole: exact, page: { limit, offset } };
    const { rows, total, projects, cut, isShortened } = await findComponents({ ...search, isForMcp }, sql);
    const page = shortPageAnswer({ limit, offset }, { total, rows: rows.length });
    const more = cutSentence({ cut }) ?? `${projects} projects have it`;
    const emptyAdvice = "Only current SBOMs of the active scope are searched. Try the beginning of the name";
    const message = listMessage({
      plural: "components",
      page,
      rows: rows.length,
      cut: isShortened,
      emptyAdvice,
      blind: null,
      more,
    });
    return { data: { components: rows, ...page, projects, cut }, message };
  },
});
