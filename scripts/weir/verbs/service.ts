import type { FleetView } from "../../../src/backing/fleet-state.ts";
import { migrate, readMigrations } from "../../../src/backing/migrate.ts";
import { openPostgres } from "../../../src/backing/postgres/postgres.ts";
import { readMigrationConfig } from "../../../src/config.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import type { Secret } from "../../../src/kernel/secret.ts";
import { columns } from "../print.ts";
import type { Verb, LocalAnswer } from "../verb.ts";

export const serviceVerbs: readonly Verb[] = [
  {
    noun: "service",
    verb: "show",
    summary: "Show the state of the process that answers: its version, what it depends on, and its alarms",
    method: "GET",
    path: "/service",
    flags: [],
  },
  {
    noun: "status",
    verb: "",
    summary: "Show what runs, in which version and on which schema, and what waits for the ledger; exits 1 if there is a problem",
    method: "GET",
    path: "/status",
    flags: [],
    show: (body) => statusText(body as FleetView),
  },
];

/** The state of a fleet as text for people. */

function statusText({ ok, problems, version, ready, processes, schema, settlements_waiting: waiting }: FleetView): string {
  const facts: [string, string][] = [
    ["state", ok ? "ok" : `${problems.length} problem${problems.length === 1 ? "" : "s"}`],
    ...problems.map((problem): [string, string] => ["", problem]),
    ["version", version],
    ["ready", ready ? "yes" : "no"],
    ["schema", schema === null ? "cannot be read" : schemaText(schema)],
    ["settlements waiting", waiting === null ? "cannot be read" : String(waiting)],
  ];
  const rows = processes.map(({ role, version: own, host, pid, started_at: startedAt }) => [
    role,
    own,
    host,
    String(pid),
    startedAt,
  ]);
  return `${columns(facts)}\n\n${columns([["PROCESS", "VERSION", "HOST", "PID", "STARTED"], ...rows])}`;
}

function schemaText({ newest, missing, unknown }: NonNullable<FleetView["schema"]>): string {
  const differences = [
    ...(missing.length > 0 ? [`${missing.length} missing`] : []),
    ...(unknown.length > 0 ? [`${unknown.length} of a newer version`] : []),
  ];
  return [newest ?? "none", ...differences].join(", ");
}

export const secretsVerbs: readonly Verb[] = [
  {
    noun: "secrets",
    verb: "rotate",
    summary: "Seal every workspace's data key under the first key of SECRETS_KEY",
    method: "POST",
    path: "/secrets/rotate",
    flags: [],
  },
];

export const ledgerVerbs: readonly Verb[] = [
  {
    noun: "ledger",
    verb: "verify",
    summary: "Check all stored amounts in one snapshot; exit code 1 when they contradict each other",
    method: "GET",
    path: "/ledger/verify",
    flags: [],
    columns: ["ok", "broken"],
    progress: ({ invariant, rows }) => `${String(invariant)}: ${String(rows)} rows`,
  },
];

export const migrateVerbs: readonly Verb[] = [
  {
    noun: "migrate",
    verb: "",
    summary: "Bring the database of DATABASE_URL to this version's schema; no process of Weir needs to run",
    flags: [],
    local: () => migrateSchema(readMigrationConfig().databaseUrl),
  },
];

/** Brings a fleet's database to the schema of this version, before its processes start. */

export async function migrateSchema(url: Secret): Promise<LocalAnswer> {
  await using database = openPostgres({ url, applicationName: "weir migrate", clock: systemClock });
  try {
    const applied = await migrate(database.sql);
    const newest = (await readMigrations()).at(-1)?.name ?? null;
    const text = applied.length === 0 ? `The database is up to date: ${newest}` : `Applied:\n${applied.join("\n")}`;
    return { body: { ok: true, applied, newest }, text, errors: [] };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { body: { ok: false, error: message }, text: "", errors: [`weir: The database cannot be migrated: ${message}`] };
  }
}
