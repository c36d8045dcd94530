/**
 * Additions to the service's verbs: the state of a fleet as text, and the migration of its database.
 */
import type { FleetView } from "../../../src/backing/fleet-state.ts";
import type { ServedFleet } from "../../../src/control-api/endpoints/service.ts";
import { migrate, readMigrations } from "../../../src/backing/migrate.ts";
import { openPostgres } from "../../../src/backing/postgres/postgres.ts";
import { readMigrationConfig } from "../../../src/config.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { answerAs } from "../call.ts";
import { columns } from "../print.ts";
import type { LocalAnswer } from "../verb.ts";

/** The state of a fleet as text for people. */
export function printStatus(body: Record<string, unknown>): string {
  const {
    ok,
    problems,
    version,
    ready,
    processes,
    schema,
    settlements_waiting: waiting,
    providers,
  } = answerAs<ServedFleet>(body);
  const facts: [string, string][] = [
    ["state", ok ? "ok" : `${problems.length} problem${problems.length === 1 ? "" : "s"}`],
    ...problems.map((problem): [string, string] => ["", problem]),
    ["version", version],
    ["ready", ready ? "yes" : "no"],
    ["schema", schema === null ? "cannot be read" : schemaText(schema)],
    ["settlements waiting", waiting === null ? "cannot be read" : String(waiting)],
  ];
  const rows = processes.map(({ role, version: own, host, pid, started_at: startedAt, ...figures }) => [
    role,
    own,
    host,
    String(pid),
    startedAt,
    measured(figures.requests_per_second, ""),
    measured(figures.lag_seconds, " s"),
    (figures.alarms ?? []).map(({ alarm, count }) => `${alarm} ${count}`).join(", "),
  ]);
  const heads = ["PROCESS", "VERSION", "HOST", "PID", "STARTED", "REQUESTS/S", "LAG", "ALARMS"];
  const health = providers.map((row) => [row.provider, measured(row.uptime_percent, " %"), measured(row.latency_ms, " ms")]);
  const answering = health.length === 0 ? "" : `\n\n${columns([["PROVIDER", "ANSWERED", "FIRST TOKEN"], ...health])}`;
  return `${columns(facts)}\n\n${columns([heads, ...rows])}${answering}`;
}

/** Empty if it was not measured, or by a process of a version that did not. */
function measured(value: number | null | undefined, unit: string): string {
  return value === null || value === undefined ? "" : `${value}${unit}`;
}

function schemaText({ newest, missing, unknown }: NonNullable<FleetView["schema"]>): string {
  const differences = [
    ...(missing.length > 0 ? [`${missing.length} missing`] : []),
    ...(unknown.length > 0 ? [`${unknown.length} of a newer version`] : []),
  ];
  return [newest ?? "none", ...differences].join(", ");
}

/** Migrates a fleet's database to the schema of this version, before its processes start. */
export async function migrateSchema(url = readMigrationConfig().databaseUrl): Promise<LocalAnswer> {
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
