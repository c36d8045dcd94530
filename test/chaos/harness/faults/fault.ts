/** What can go wrong, with whom, and for how long. */
import type { ServerName } from "../world/links.ts";

export type Fault =
  /** SIGKILL; who dies is started again. */
  | { kind: "kill"; who: string }
  /** SIGSTOP, and SIGCONT after `ms`. */
  | { kind: "freeze"; who: string; ms: number }
  /** SIGTERM, in the middle of whatever it does; started again when it has ended. */
  | { kind: "stop"; who: string }
  /** The network between one process of ours (null: all of them) and a server. */
  | { kind: "cut" | "silence"; who: string | null; server: ServerName; ms: number }
  | { kind: "delay"; who: string | null; server: ServerName; ms: number; delayMs: number }
  | { kind: "half-open"; who: string | null; server: ServerName }
  | { kind: "truncate"; who: string | null; server: ServerName; bytes: number; ms: number }
  /** FLUSHALL. */
  | { kind: "empty-redis" }
  /** pg_terminate_backend for every session. */
  | { kind: "end-sessions" }
  | { kind: "full-disk"; ms: number };

/** Such as `freeze redis for 3.2 s`. */
export function describeFault(fault: Fault): string {
  const where = "server" in fault ? ` ${fault.who ?? "everybody"} from ${fault.server}` : "who" in fault ? ` ${fault.who}` : "";
  const delay = "delayMs" in fault ? ` by ${fault.delayMs} ms` : "";
  const bytes = "bytes" in fault ? ` after ${fault.bytes} bytes` : "";
  const time = "ms" in fault ? ` for ${(fault.ms / 1_000).toFixed(1)} s` : "";
  return fault.kind + where + delay + bytes + time;
}

/** Processes of ours that a fault may hit. */
export const partNames = ["gateway-1", "gateway-2", "worker-1", "worker-2", "metering-1", "metering-2", "prober"] as const;

/** While this lasts nothing can be admitted, hence no provider may be called. */
export function closesAdmission(fault: Fault): boolean {
  if (fault.kind === "freeze") return fault.who === "redis" || fault.who === "nats";
  const isNetwork = fault.kind === "cut" || fault.kind === "silence";
  return isNetwork && fault.who === null && fault.server !== "postgres";
}

/** Who speaks to which server at all: gateways never see Redis. */
export function hasLink(part: string, server: ServerName): boolean {
  return server !== "redis" || part.startsWith("worker") || part.startsWith("metering");
}
