/** The state of a fleet as text for people. */
import type { FleetView } from "../../src/backing/fleet-state.ts";
import { columns } from "./print.ts";

export function statusText({ ok, problems, version, ready, processes, schema, settlements_waiting: waiting }: FleetView): string {
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
