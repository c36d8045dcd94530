/** The faults that can be injected, each with its target and duration. */
import type { ServerName } from "../world/links.ts";

export type Fault =
  /** SIGKILL. The target restarts. */
  | { kind: "kill"; who: string }
  /** SIGSTOP, and SIGCONT after `ms`. */
  | { kind: "freeze"; who: string; ms: number }
  /** SIGTERM. The target restarts when it has ended. */
  | { kind: "stop"; who: string }
  /** A bad network between one process of Weir (null: all of them) and a server. */
  | { kind: "cut" | "silence"; who: string | null; server: ServerName; ms: number }
  | { kind: "delay"; who: string | null; server: ServerName; ms: number; delayMs: number }
  | { kind: "half-open"; who: string | null; server: ServerName }
  | { kind: "truncate"; who: string | null; server: ServerName; bytes: number; ms: number }
  /** A server of a cluster is cut off from the others, but not from its clients. */
  | { kind: "isolate"; who: string; ms: number }
  /** A process of Weir loses its whole network, as a host of its own would. */
  | { kind: "unplug"; who: string; ms: number }
  /** CLUSTER FAILOVER. */
  | { kind: "failover"; who: string }
  /** FLUSHALL. */
  | { kind: "empty-redis" }
  /** pg_terminate_backend for every session. */
  | { kind: "end-sessions" }
  | { kind: "full-disk"; ms: number };

/** Such as `freeze redis for 3.2 s`. */
export function describeFault(fault: Fault): string {
  const where =
    "server" in fault ? ` ${fault.who ?? "every process"} from ${fault.server}` : "who" in fault ? ` ${fault.who}` : "";
  const delay = "delayMs" in fault ? ` by ${fault.delayMs} ms` : "";
  const bytes = "bytes" in fault ? ` after ${fault.bytes} bytes` : "";
  const time = "ms" in fault ? ` for ${(fault.ms / 1_000).toFixed(1)} s` : "";
  return fault.kind + where + delay + bytes + time;
}

/** How many processes of each kind a fleet has; it also has a prober. */
export interface FleetSize {
  gateways: number;
  workers: number;
  metering: number;
}

/** The processes of Weir that a fault may hit. */
export function partNames({ gateways, workers, metering }: FleetSize): string[] {
  const kinds = { gateway: gateways, worker: workers, metering };
  const numbered = Object.entries(kinds).flatMap(([kind, count]) =>
    Array.from({ length: count }, (_, place) => `${kind}-${place + 1}`),
  );
  return [...numbered, "prober"];
}

/** Whether nothing can be admitted during the fault, so that no provider may be called. */
export function closesAdmission(fault: Fault): boolean {
  if (fault.kind === "freeze") return fault.who === "redis" || fault.who === "nats";
  const isNetwork = fault.kind === "cut" || fault.kind === "silence";
  return isNetwork && fault.who === null && fault.server !== "postgres";
}

/** How long a gateway cannot call its provider because of the fault. */
export function gatewayStillMs(fault: Fault): number {
  const stops = fault.kind === "freeze" || fault.kind === "unplug";
  return stops && fault.who.startsWith("gateway-") ? fault.ms : 0;
}

/** Whether the process connects to the server: gateways do not connect to Redis. */
export function hasLink(part: string, server: ServerName): boolean {
  return server !== "redis" || part.startsWith("worker") || part.startsWith("metering");
}
