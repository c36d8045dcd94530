/**
 * The SQL of what projects are made of: pages of the components of an SBOM, components in all current SBOMs, licences, the SBOMs that are
 * kept, and the difference between two of them. A page chooses its rows first and looks up their findings afterwards, so that a late page costs little more than an
 * early one.
 */
import type { Queries } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { licensesShownMax } from "../findings/limits.ts";
import { nameShown, type Fragment } from "../findings/lists/list-store.ts";
import type { Page } from "../fields.ts";
import { componentsSearchedMax, licensesListedMax, versionsShownMax } from "../limits.ts";
import type { Scope } from "../operation.ts";
import { componentKey } from "../sboms/store.ts";
import { type Ecosystem, packageKey, type PackageName } from "../versions/ecosystem.ts";

export interface ComponentRow {
  position: number;
  name: string;
  version: string | null;
  type: string | null;
  purl: string | null;
  /** null: unknown. */
  ecosystem: Ecosystem | null;
  relation: "direct" | "transitive" | "unknown";
  via: number | null;
  scope: string | null;
  licenses: string[];
  /** Why its version cannot be compared with advisories; null: it can be. */
  unknown: string | null;
  /** Its live findings. */
  vulnerabilities: number;
}

/** null: any. */
export interface ComponentFilter {
  /** Part of the name, in any case. */
  text: string | null;
  /** One of its licences, exactly; empty: it has none. */
  license: string | null;
  relation: ComponentRow["relation"] | null;
  /** Whether it has a live finding. */
  vulnerable: boolean | null;
}

export const allComponents: ComponentFilter = { text: null, license: null, relation: null, vulnerable: null };

interface OfSbom {
  project: string;
  sbom: string;
}

/** A page of the components of an SBOM in the SBOM's order, without the root. */
export async function selectComponentPage(
  { project, sbom, filter, page }: OfSbom & { filter: ComponentFilter; page: Page },
  sql: Queries,
): Promise<ComponentRow[]> {
  return sql<ComponentRow[]>`
    WITH page AS MATERIALIZED (
      SELECT c.* FROM sbom_components AS c
      WHERE ${matching({ project, sbom, filter }, sql)} ORDER BY c.position OFFSET ${page.offset} LIMIT ${page.limit}
    )
    SELECT c.position, ${nameShown(sql`c.name`, sql)} AS name, ${nameShown(sql`c.version`, sql)} AS version, c.type, c.purl,
      packages.ecosystem, c.relation, c.via, c.scope,
      ARRAY(SELECT ${nameShown(sql`license`, sql)} FROM unnest(c.licenses[1:${sql.unsafe(String(licensesShownMax))}]) AS license) AS licenses,
      (SELECT min(reason) FROM unknown_matches AS u
        WHERE u.project_id = ${project} AND u.package_id = c.package_id AND u.version_key = ${componentKey(sql`c`, sql)}) AS unknown,
      (SELECT count(*)::integer FROM findings AS f
        WHERE f.project_id = ${project} AND f.package_id = c.package_id AND f.version_key = ${componentKey(sql`c`, sql)}
          AND f.live) AS vulnerabilities
    FROM page AS c LEFT JOIN packages ON packages.id = c.package_id
    ORDER BY c.position`;
}

export async function countComponents(of: OfSbom & { filter: ComponentFilter }, sql: Queries): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM sbom_components AS c WHERE ${matching(of, sql)}`;
  return row?.count ?? 0;
}

function matching({ project, sbom, filter }: OfSbom & { filter: ComponentFilter }, sql: Queries): Fragment {
  const { text, license, relation, vulnerable } = filter;
  const hasFinding = sql`EXISTS (
    SELECT FROM findings AS f
    WHERE f.project_id = ${project} AND f.package_id = c.package_id AND f.version_key = ${componentKey(sql`c`, sql)}
      AND f.live)`;
  return sql`c.sbom_id = ${sbom} AND c.position > 0
    ${text === null ? sql`` : sql`AND strpos(lower(c.name), lower(${text})) > 0`}
    ${license === null ? sql`` : license === "" ? sql`AND c.licenses = '{}'` : sql`AND ${license} = ANY (c.licenses)`}
    ${relation === null ? sql`` : sql`AND c.relation = ${relation}`}
    ${vulnerable === null ? sql`` : sql`AND ${hasFinding} = ${vulnerable}`}`;
}

/** What a search in all projects looks for: a package of the seven ecosystems, or a name. */
export type SoughtComponent =
  /** null: any version. */
  | { kind: "package"; named: PackageName; versionKey: string | null }
  /** Where `isWhole`, only components of exactly this name, or with it as the last parts of theirs. null: any version, any package URL. */
  | { kind: "name"; name: string; isWhole: boolean; version: string | null; purl: string | null };

export interface FoundComponentRow {
  project: string;
  projectName: string;
  sbom: string;
  sbomCreatedAt: Date;
  name: string;
  version: string | null;
  purl: string | null;
  ecosystem: Ecosystem | null;
  relation: ComponentRow["relation"];
  /** Its live findings. */
  vulnerabilities: number;
}

interface FoundComponents {
  rows: FoundComponentRow[];
  total: number;
  projects: number;
  /** Whether more components match than a search reads. */
  cut: boolean;
}

/**
 * Versions of components in the current SBOMs of a workspace, by the names of projects and then their own. It reads at most
 * `componentsSearchedMax` components from an index, in the order of projects, so that no name costs more than another.
 */
export async function searchComponents(
  { workspace, scope, sought, page }: { workspace: WorkspaceId; scope: Scope; sought: SoughtComponent; page: Page },
  sql: Queries,
): Promise<FoundComponents> {
  const most = sql`${sql.unsafe(String(componentsSearchedMax))}`;
  const rows = await sql<((FoundComponentRow | { project: null }) & Omit<FoundComponents, "rows">)[]>`
    WITH walked AS MATERIALIZED (
      SELECT present.id AS project, present.name AS project_name, component.*
      FROM (
        SELECT id, name, sbom_id FROM projects WHERE workspace_id = ${workspace} AND sbom_id IS NOT NULL
          ${scope.kind === "workspace" ? sql`` : sql`AND ${sql(scope.kind === "product" ? "product_id" : "id")} = ${scope.id}`}
        ORDER BY name
      ) AS present
      CROSS JOIN LATERAL (${walkOf(sought, most, sql)}) AS component
      ORDER BY present.name, component.position LIMIT ${most} + 1
    ), found AS MATERIALIZED (
      SELECT project, min(project_name) AS project_name, sbom_id, package_id, ${componentKey(sql`c`, sql)} AS key,
        min(name) COLLATE "C" AS name, min(version) AS version, min(purl) AS purl, min(relation) AS relation
      FROM walked AS c WHERE position > 0 AND ${matchingSought(sought, sql)}
      GROUP BY project, sbom_id, package_id, coalesce(package_id::text, name), ${componentKey(sql`c`, sql)}
    ), page AS MATERIALIZED (
      SELECT * FROM found ORDER BY project_name, name, key, package_id OFFSET ${page.offset} LIMIT ${sql.unsafe(String(page.limit))}
    )
    SELECT (SELECT count(*) FROM found)::integer AS total, (SELECT count(DISTINCT project) FROM found)::integer AS projects,
      (SELECT count(*) FROM walked) > ${most} AS cut, row.*
    FROM (SELECT) AS one
    LEFT JOIN (
      SELECT page.project, page.project_name AS "projectName", page.sbom_id AS sbom,
        (SELECT created_at FROM sboms WHERE sboms.id = page.sbom_id) AS "sbomCreatedAt",
        ${nameShown(sql`page.name`, sql)} AS name, ${nameShown(sql`page.version`, sql)} AS version, page.purl,
        (SELECT ecosystem FROM packages WHERE packages.id = page.package_id) AS ecosystem,
        page.relation, page.name AS place, page.key, page.package_id,
        (SELECT count(*)::integer FROM findings AS f
          WHERE f.project_id = page.project AND f.package_id = page.package_id AND f.version_key = page.key AND f.live) AS vulnerabilities
      FROM page
    ) AS row ON true
    ORDER BY row."projectName", row.place, row.key, row.package_id`;
  const { total = 0, projects = 0, cut = false } = rows[0] ?? {};
  return { rows: rows.flatMap((row) => (row.project === null ? [] : [row])), total, projects, cut };
}

/** The components of a project's SBOM that an index finds. The conditions of `matchingSought` choose among them. */
function walkOf(sought: SoughtComponent, most: Fragment, sql: Queries): Fragment {
  const columns = sql`c.sbom_id, c.position, c.name, c.version, c.version_key, c.purl, c.package_id, c.relation`;
  if (sought.kind === "package") {
    const { ecosystem } = sought.named;
    const key = packageKey(sought.named);
    // The canonical package URL of a Go module is in lower case, whatever its spelling.
    const spelled = ecosystem === "Go" ? sql`lower(key) = lower(${key})` : sql`key = ${key}`;
    return sql`
      SELECT ${columns} FROM sbom_components AS c
      WHERE c.package_id = ANY (ARRAY(SELECT id FROM packages WHERE ecosystem = ${ecosystem} AND ${spelled})) AND c.sbom_id = present.sbom_id
      LIMIT ${most} + 1`;
  }
  const begins = (indexed: Fragment, text: Fragment) =>
    sql`(${indexed} >= left(${text}, 64) COLLATE "C" AND ${indexed} < (left(${text}, 64) || chr(1114111)) COLLATE "C")`;
  const name = sql`searched_name(c.name)`;
  const asked = sql`searched_name(${sought.name})`;
  const byPart = begins(sql`(left(searched_part(${name}), 64) COLLATE "C")`, sql`searched_part(${asked})`);
  const byName = begins(sql`(left(${name}, 64) COLLATE "C")`, asked);
  return sql`(
    SELECT ${columns} FROM sbom_components AS c WHERE c.sbom_id = present.sbom_id AND ${byPart} LIMIT ${most} + 1
  ) UNION ALL (
    SELECT ${columns} FROM sbom_components AS c
    WHERE c.sbom_id = present.sbom_id AND strpos(${name}, '/') > 0 AND ${byName} AND NOT ${byPart} LIMIT ${most} + 1
  )`;
}

function matchingSought(sought: SoughtComponent, sql: Queries): Fragment {
  if (sought.kind === "package") {
    return sought.versionKey === null ? sql`true` : sql`${componentKey(sql`c`, sql)} = ${sought.versionKey}`;
  }
  const { name, isWhole, version, purl } = sought;
  const [has, asked] = [sql`'/' || searched_name(c.name)`, sql`'/' || searched_name(${name})`];
  const ends = (text: Fragment) => sql`right(${text}, length(${asked})) = ${asked}`;
  return sql`${isWhole ? sql`(${ends(has)} OR ${ends(sql`regexp_replace(${has}, '/v[0-9]+$', '')`)})` : sql`strpos(${has}, ${asked}) > 0`}
    ${version === null ? sql`` : sql`AND c.version = ${version}`}
    ${purl === null ? sql`` : sql`AND substring(lower(c.purl) FROM '^[^@?#]*') = ${purl}`}`;
}

export interface LicenseRow {
  /** Empty: components without a licence. */
  license: string;
  components: number;
}

/** The licences of an SBOM's components, the most frequent first. A component counts for each of its licences. */
export async function selectLicenses(sbom: string, sql: Queries): Promise<LicenseRow[]> {
  return sql<LicenseRow[]>`
    SELECT ${nameShown(sql`license`, sql)} AS license, count(*)::integer AS components
    FROM sbom_components CROSS JOIN LATERAL unnest(CASE WHEN licenses = '{}' THEN ARRAY[''] ELSE licenses END) AS license
    WHERE sbom_id = ${sbom} AND position > 0
    GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${licensesListedMax}`;
}

export interface KeptSbom {
  id: string;
  format: string;
  specVersion: string;
  name: string | null;
  filename: string | null;
  components: number;
  /** In hexadecimal. */
  sha256: string;
  /** An e-mail address, or `operator`. */
  createdBy: string;
  createdAt: Date;
  current: boolean;
}

/** The SBOMs of a project that are kept, newest first. */
export async function selectSboms(
  { workspace, project, limit }: { workspace: WorkspaceId; project: string; limit: number },
  sql: Queries,
): Promise<KeptSbom[]> {
  return sql<KeptSbom[]>`
    SELECT sboms.id, format, spec_version AS "specVersion", ${nameShown(sql`sboms.name`, sql)} AS name, filename, components,
      encode(sha256, 'hex') AS sha256, created_by AS "createdBy", sboms.created_at AS "createdAt",
      coalesce(sboms.id = projects.sbom_id, false) AS current
    FROM sboms JOIN projects ON projects.id = sboms.project_id
    WHERE sboms.workspace_id = ${workspace} AND sboms.project_id = ${project} AND NOT removing
    ORDER BY sboms.created_at DESC, sboms.id DESC LIMIT ${limit}`;
}

/** @param sbom null: the current one @returns undefined if the project has no such SBOM */
export async function selectSbomOf(
  { workspace, project, sbom }: { workspace: WorkspaceId; project: string; sbom: string | null },
  sql: Queries,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    SELECT sboms.id FROM projects JOIN sboms ON sboms.project_id = projects.id
    WHERE projects.workspace_id = ${workspace} AND projects.id = ${project}
      AND sboms.id = ${sbom === null ? sql`projects.sbom_id` : sql`${sbom}`} AND NOT removing`;
  return row?.id;
}

export interface DifferenceRow {
  component: string;
  ecosystem: Ecosystem | null;
  /** Its versions; '' means none. Empty: the SBOM does not have it. */
  before: string[];
  after: string[];
}

interface Difference {
  rows: DifferenceRow[];
  added: number;
  removed: number;
  changed: number;
}

/** The packages whose versions differ and not only their spelling, by name. A component without a package is compared by its name. */
export async function selectDifference(
  { before, after, page }: { before: string; after: string; page: Page },
  sql: Queries,
): Promise<Difference> {
  const shown = (versions: Fragment) => sql`coalesce(${versions}[1:${sql.unsafe(String(versionsShownMax))}], '{}')`;
  type Row = Omit<Difference, "rows"> & (DifferenceRow | { component: null });
  const rows = await sql<Row[]>`
    WITH sides AS MATERIALIZED (
      SELECT sbom_id, package_id, coalesce('p' || package_id, 'n' || name) AS key, min(name) AS name,
        array_agg(DISTINCT coalesce(version, '') ORDER BY coalesce(version, '')) AS versions,
        array_agg(DISTINCT ${componentKey(sql`sbom_components`, sql)}) AS version_keys
      FROM sbom_components WHERE sbom_id IN (${before}, ${after}) AND position > 0
      GROUP BY sbom_id, package_id, coalesce('p' || package_id, 'n' || name)
    ), different AS MATERIALIZED (
      SELECT key, coalesce(new.name, old.name) AS name, coalesce(new.package_id, old.package_id) AS package_id,
        old.versions AS before, new.versions AS after
      FROM (SELECT * FROM sides WHERE sbom_id = ${before}) AS old
      FULL JOIN (SELECT * FROM sides WHERE sbom_id = ${after}) AS new USING (key)
      WHERE old.version_keys IS DISTINCT FROM new.version_keys
    ), page AS MATERIALIZED (
      SELECT * FROM different ORDER BY name, key OFFSET ${page.offset} LIMIT ${page.limit}
    )
    SELECT (SELECT count(*) FROM different WHERE before IS NULL)::integer AS added,
      (SELECT count(*) FROM different WHERE after IS NULL)::integer AS removed,
      (SELECT count(*) FROM different WHERE before IS NOT NULL AND after IS NOT NULL)::integer AS changed, row.*
    FROM (SELECT) AS one
    LEFT JOIN (
      SELECT ${nameShown(sql`page.name`, sql)} AS component, packages.ecosystem, ${shown(sql`page.before`)} AS before,
        ${shown(sql`page.after`)} AS after, page.name AS place, page.key
      FROM page LEFT JOIN packages ON packages.id = page.package_id
    ) AS row ON true
    ORDER BY row.place, row.key`;
  const { added = 0, removed = 0, changed = 0 } = rows[0] ?? {};
  const found = rows.flatMap((row) => (row.component === null ? [] : [row]));
  return {
    rows: found.map(({ component, ecosystem, before: from, after: to }) => ({ component, ecosystem, before: from, after: to })),
    added,
    removed,
    changed,
  };
}
