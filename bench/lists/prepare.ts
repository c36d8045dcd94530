/** The database of lists. It is loaded once and kept; an interrupted load continues. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { openPostgres } from "../../src/backing/postgres/postgres.ts";
import { migrate, MigrationError } from "../../src/backing/migrate.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { createDatabase, databaseExists, dropDatabases, tidy } from "../data/store.ts";
import * as plan from "./plan.ts";
import * as store from "./store.ts";

type Say = (line: string) => void;

/** @param url the server's URL. @returns the database's URL */
export async function preparedLists(url: string, say: Say): Promise<string> {
  const name = databaseName();
  const made = new URL(url);
  made.pathname = `/${name}`;
  await using server = connect(url);
  if (!(await databaseExists(name, server)) || !(await bringToSchema(made.href))) {
    await dropDatabases("lists_%", "", server);
    await createDatabase(name, server);
    await bringToSchema(made.href);
  }
  await load(made.href, say);
  return made.href;
}

/** @returns false when a migration has changed since, so that the database cannot be used */
async function bringToSchema(url: string): Promise<boolean> {
  await using database = openPostgres({ url: new Secret(url), applicationName: "bench", clock: systemClock });
  try {
    await migrate(database.sql);
    return true;
  } catch (error) {
    if (error instanceof MigrationError) return false;
    throw error;
  }
}

export function connect<Types extends Record<string, unknown> = Record<string, never>>(
  url: string,
  options: postgres.Options<{ [name in keyof Types]: postgres.PostgresType }> = {},
): postgres.Sql & AsyncDisposable {
  const sql = postgres(url, { max: 1, onnotice: () => {}, ...options });
  return Object.assign(sql, { [Symbol.asyncDispose]: () => sql.end({ timeout: 5 }) });
}

/** Each plan has its own database. Migrations bring it to a newer schema. */
function databaseName(): string {
  const text = readFileSync(join(import.meta.dir, "plan.ts"));
  return `lists_${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
}

async function load(url: string, say: Say): Promise<void> {
  // As in a scan, findings are looked up one by one, and need not be on disk before the next ones.
  await using sql = connect(url, { connection: { enable_hashjoin: false, synchronous_commit: "off" } });
  const [known] = await sql`SELECT FROM workspaces WHERE id = ${plan.scored.workspace}`;
  if (!known) {
    say(`loading vulnerabilities (once; they stay in bench/.data, like the findings after them)`);
    await sql.begin(async (tx) => {
      await store.insertKnown(tx);
      await store.insertVulnerabilities(tx);
    });
    await sql`ANALYZE`;
  }
  const loaded = await store.loadedProjects(sql);
  if (loaded.size < plan.plannedProjects().length) await loadProjects(loaded, sql, say);
}

async function loadProjects(loaded: ReadonlySet<number>, sql: postgres.Sql, say: Say): Promise<void> {
  const projects = plan.plannedProjects();
  const startedAt = performance.now();
  let first = 0;
  let written = 0;
  let reportedAt = startedAt;
  const all = projects.reduce((sum, { findings }) => sum + findings, 0);
  for (const project of projects) {
    const { number, findings } = project;
    if (!loaded.has(number)) {
      await loadProject({ ...project, first }, sql);
      written += findings;
    }
    first += findings;
    if (performance.now() - reportedAt > 5_000 || first === all) {
      reportedAt = performance.now();
      const perSecond = Math.round(written / ((reportedAt - startedAt) / 1_000));
      say(`loading findings: ${first} of ${all}, ${perSecond} a second`);
    }
  }
  say("tidying up");
  await tidy(sql);
}

/**
 * Loads a project in one transaction, so that it is complete or absent. Findings with severities were found over months, those
 * without severities by one scan of seconds. These are the two extremes for lists.
 */
async function loadProject(
  { findings, first, ...project }: plan.PlannedProject & { first: number },
  sql: postgres.Sql,
): Promise<void> {
  const day = 86_400_000;
  const begun = Date.UTC(2026, 0, 1) + project.number * day;
  const isSudden = project.inventory === plan.unscored;
  const apartMs = isSudden ? 300 : 0;
  const statementMs = isSudden ? (plan.statementFindings / plan.scanFindings) * apartMs : 3 * day;
  await sql.begin(async (tx) => {
    await store.insertProject(project, tx);
    for (let from = 0; from < findings; from += plan.statementFindings) {
      const count = Math.min(plan.statementFindings, findings - from);
      const at = new Date(begun + (from / plan.statementFindings) * statementMs);
      await store.insertFindings({ project, from, count, first: first + from, at, apartMs }, tx);
    }
    await store.insertOccurrences(project.number, tx);
  });
}
