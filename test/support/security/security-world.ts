/** Advisories, projects and documents as the rest of the service writes them, in a few words, and scans of them. */
import pino from "pino";
import { type Database, allowStatements } from "../../../src/backing/backing.ts";
import { scanNext } from "../../../src/security/findings/scan/scan-next.ts";
import { newToolsId } from "../../../src/kernel/ids.ts";
import { scanAttemptsMax, scanRetryMs } from "../../../src/security/limits.ts";
import { requestScan } from "../../../src/security/scans/store.ts";
import { packageIds } from "../../../src/security/versions/store.ts";
import { type Ecosystem, packageIdentity, packageNameOf } from "../../../src/security/versions/ecosystem.ts";
import type { OsvAffected } from "../../../src/security/versions/osv-range.ts";
import { parsePackageUrl } from "../../../src/security/versions/package-url.ts";
import { versionKey } from "../../../src/security/versions/version-to-match.ts";
import { AdvisoryStore } from "./advisory-store.ts";
import type { ManualClock } from "../clock.ts";
import { Control } from "../control.ts";
import type { TestDatabase } from "../servers/databases.ts";
import { until } from "../until.ts";
import type { ToolsStage } from "./tools-api.ts";

/** What the log says of a scan that could not be completed. */
interface ScanPutOff {
  name?: string;
  code?: string;
}

/** A statement that the server or its client ended, or a lock that was not free in time, by PostgreSQL's appendix A. */
const isBusy = ({ name, code }: ScanPutOff): boolean => name === "DeadlineError" || code === "57014" || code === "55P03";

export interface TestRecord {
  id: string;
  aliases?: string[];
  withdrawn?: boolean;
  /** When: ISO 8601 in UTC. */
  published?: string;
  /** The record's `database_specific`. */
  specific?: Record<string, unknown>;
  affected: (OsvAffected & { ecosystem: Ecosystem; name: string; custom_ranges?: unknown })[];
}

export interface TestComponent {
  purl: string;
  /** In place of that of the package URL. */
  version?: string | null;
  relation?: "root" | "direct" | "transitive" | "unknown";
  /** The place before it on the way from the root, counted as components are given. */
  via?: number;
}

export interface StoredFinding {
  id: string;
  name: string;
  version: string;
  status: string;
  falsePositive: boolean;
  present: boolean;
  fixVersion: string | null;
  evidence: Record<string, unknown>;
}

export class SecurityWorld {
  readonly sql: Database;
  readonly clock: ManualClock;
  readonly workspace: string;
  readonly #advisories: AdvisoryStore;

  constructor({ sql, clock, workspace }: { sql: Database; clock: ManualClock; workspace: string }) {
    this.sql = sql;
    this.clock = clock;
    this.workspace = workspace;
    this.#advisories = new AdvisoryStore(sql, () => clock.now());
  }

  /** Opens a world on a fresh database with the workspace "w". */
  static async open(database: TestDatabase): Promise<SecurityWorld> {
    const control = new Control(database.sql);
    return new SecurityWorld({ sql: database.sql, clock: control.clock, workspace: await control.workspace("w") });
  }

  /** Makes a world of the stage's own workspace, on its clock. */
  static on({ database, control, workspace }: ToolsStage): SecurityWorld {
    return new SecurityWorld({ sql: database.sql, clock: control.clock, workspace });
  }

  /** Nothing but workspaces is left. */
  async clear(): Promise<void> {
    await this.sql`UPDATE projects SET sbom_id = NULL`;
    for (const table of [
      "finding_events",
      "finding_sboms",
      "findings",
      "unknown_matches",
      "triages",
      "vulnerability_names",
      "advisory_aliases",
      "affected_packages",
      "advisories",
      "advisory_ecosystems",
      "vulnerabilities",
      "sbom_edges",
      "sbom_components",
      "sboms",
      "projects",
      "products",
      "packages",
    ]) {
      await this.sql`DELETE FROM ${this.sql(table)}`;
    }
  }

  /** Nothing but workspaces is left, and a new project. */
  async onlyProject(name: string): Promise<string> {
    await this.clear();
    return this.project(name);
  }

  /** Imports records, each state newer than all before it. */
  async publish(...records: TestRecord[]): Promise<void> {
    const osv = records.map(({ id, aliases = [], withdrawn = false, published, specific, affected }) => ({
      id,
      aliases,
      ...(published !== undefined && { published }),
      ...(specific !== undefined && { database_specific: specific }),
      ...(withdrawn && { withdrawn: "2026-02-01T00:00:00Z" }),
      affected: affected.map(({ ecosystem, name, ranges = [], versions = [], lastKnown, custom_ranges: custom }) => ({
        package: { ecosystem, name },
        ranges,
        versions,
        ...(lastKnown !== undefined && { database_specific: { last_known_affected_version_range: lastKnown } }),
        ...(custom !== undefined && { ecosystem_specific: { custom_ranges: custom } }),
      })),
    }));
    await this.#advisories.publish(...osv);
  }

  async project(name: string, workspace = this.workspace): Promise<string> {
    const id = newToolsId("prj", this.clock.now());
    await this.sql`
      INSERT INTO projects (id, workspace_id, name, provider, created_at)
      VALUES (${id}, ${workspace}, ${name}, 'upload', ${new Date(this.clock.now())})`;
    return id;
  }

  /** Makes a document the current one of a project. @param components as package URLs, the root first where there is one */
  async upload(project: string, components: (string | TestComponent)[]): Promise<string> {
    const id = newToolsId("sbom", this.clock.now());
    const at = new Date(this.clock.now());
    const rows = components.map((given) => {
      const { purl, version, relation = "direct", via = null } = typeof given === "string" ? { purl: given } : given;
      const parsed = parsePackageUrl(purl);
      const named = packageNameOf(parsed);
      return {
        purl,
        relation,
        via,
        named,
        name: named?.name ?? parsed.name,
        version: version === undefined ? parsed.version : version,
      };
    });
    const keyOf = ({ named, version }: (typeof rows)[number]) => named && versionKey({ ecosystem: named.ecosystem, version });
    await this.sql.begin(async (tx) => {
      // The rows of a whole document go into one statement here, which a busy machine may not end within the service's limit.
      await allowStatements(30_000, tx);
      const ids = await packageIds(
        rows.flatMap(({ named }) => named ?? []),
        tx,
      );
      const [{ workspace_id: workspace } = {}] = await tx`SELECT workspace_id FROM projects WHERE id = ${project}`;
      await tx`
        INSERT INTO sboms (id, workspace_id, project_id, sha256, digest, format, spec_version, encoding, components, created_by, created_at)
        VALUES (${id}, ${workspace}, ${project}, ${Buffer.from(id)}, '\\x00', 'CycloneDX', '1.6', 'json', ${rows.length}, 'member@w', ${at})`;
      const stored = rows.map(({ named, ...row }, position) => ({
        ...row,
        key: keyOf({ ...row, named }),
        position,
        package: named && String(ids.get(packageIdentity(named))),
      }));
      await tx`
        INSERT INTO sbom_components (sbom_id, position, ref, name, version, version_key, purl, package_id, relation, via, licenses)
        SELECT ${id}, position, 'ref-' || position, name, version, key, purl, package, relation, via, '{}'
        FROM jsonb_to_recordset(${tx.json(stored as never)}) AS new (position integer, name text, version text, key text, purl text,
          package bigint, relation text, via integer)`;
      await tx`
        INSERT INTO sbom_ecosystems (sbom_id, ecosystem, components, unreadable)
        SELECT sbom_id, coalesce(ecosystem, ''), count(*), count(*) FILTER (WHERE version IS NULL)
        FROM sbom_components LEFT JOIN packages ON packages.id = package_id WHERE sbom_id = ${id} AND relation <> 'root' GROUP BY 1, 2`;
      await tx`UPDATE projects SET sbom_id = ${id} WHERE id = ${project}`;
      await requestScan({ project, at }, tx);
    });
    return id;
  }

  /** Scans whatever waits, and again, as often as a scanner would, what the database was too busy for. */
  async scan(): Promise<void> {
    this.clock.advance(1_000);
    for (let again = 0; again < scanAttemptsMax; again++) {
      const putOff: ScanPutOff[] = [];
      const log = pino({ level: "warn" }, { write: (line: string) => void putOff.push(JSON.parse(line) as ScanPutOff) });
      while (await scanNext({ sql: this.sql, clock: this.clock, log }, new AbortController().signal));
      if (!putOff.some(isBusy)) return;
      this.clock.advance(scanRetryMs * 2 ** again);
    }
  }

  /** Scans what waits until a command ends, which waits for the scan of its own project. */
  async scanWhile<T>(running: Promise<T>): Promise<T> {
    let isEnded = false;
    const end = (): void => void (isEnded = true);
    running.then(end, end);
    await until(async () => {
      if ((await this.sql`SELECT FROM projects WHERE scan_status = 'pending'`).length > 0) await this.scan();
      return isEnded;
    }, 30_000);
    return running;
  }

  async findings(project: string): Promise<StoredFinding[]> {
    return this.sql<StoredFinding[]>`
      SELECT findings.id, vulnerabilities.name, version, status, false_positive AS "falsePositive", present, fix_version AS "fixVersion", evidence
      FROM findings JOIN vulnerabilities ON vulnerabilities.id = vulnerability_id
      WHERE project_id = ${project} ORDER BY vulnerabilities.name, version`;
  }

  /** `name version status`, and `false positive` or `gone`. */
  async findingLines(project: string): Promise<string[]> {
    return (await this.findings(project)).map(({ name, version, status, falsePositive, present }) =>
      [name, version, status, ...(falsePositive ? ["false positive"] : []), ...(present ? [] : ["gone"])].join(" "),
    );
  }

  /** `actor cause field from to`. */
  async events(finding: string): Promise<string[]> {
    const rows = await this.sql<{ actor: string; cause: string; changes: Record<string, { from: unknown; to: unknown }> }[]>`
      SELECT actor, cause, changes FROM finding_events WHERE finding_id = ${finding} ORDER BY id`;
    return rows.map(({ actor, cause, changes }) =>
      [actor, cause, ...Object.entries(changes).map(([field, { from, to }]) => `${field} ${String(from)} ${String(to)}`)].join(
        " ",
      ),
    );
  }

  async unknowns(project: string): Promise<{ version: string; reason: string }[]> {
    return this.sql<{ version: string; reason: string }[]>`
      SELECT version, reason FROM unknown_matches WHERE project_id = ${project} ORDER BY package_id, version, vulnerability_id`;
  }

  async scanState(project: string): Promise<Record<string, unknown>> {
    const [row] = await this
      .sql`SELECT scan_status, scan_failure, scan_attempts, last_scanned_at FROM projects WHERE id = ${project}`;
    return { ...row };
  }
}

/** A record about npm's lodash. */
export function lodash(id: string, more: Partial<TestRecord> = {}, ranges = fixedIn("4.17.21")): TestRecord {
  return { id, affected: [{ ecosystem: "npm", name: "lodash", ranges }], ...more };
}

/** Fixed in one version; affected from the beginning. */
export function fixedIn(fixed: string, introduced = "0"): OsvAffected["ranges"] {
  return [{ type: "ECOSYSTEM", events: [{ introduced }, { fixed }] }];
}
