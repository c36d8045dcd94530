/**
 * The interface of both modes to the gateway's process, and how a process stops without failing requests. It first continues to serve, and
 * closes each connection after one more answer, so that balancers and clients move to other gateways. Then it accepts no new connections,
 * and ends the remaining ones.
 */
import { sleep, type Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import { leavePort } from "../process/leave-port.ts";
import type { Front } from "./front.ts";
import { shutdownDrainMs, shutdownLingerMs, shutdownLingerMsMax } from "./limits.ts";

/** The interface of both modes to the gateway's process. */
export interface Service extends Front {
  /** Prints the address, the first keys, and commands to try. */
  welcome(): Promise<void>;
  /** Closes all parts, after `finish`. */
  close(): Promise<void>;
}

/** What shutting down needs. */
interface ShutdownOptions {
  server: NonNullable<Service["app"]["server"]>;
  service: Pick<Service, "app" | "announceShutdown">;
  /** 0: no other gateway could serve. */
  leaveMs: number;
  clock: Clock;
  log: Logger;
}

/** Resolves when all answers have been sent, or after the drain time. @returns how long answers may still continue, in milliseconds */
export async function shutDownServer({ server, service, leaveMs, clock, log }: ShutdownOptions): Promise<number> {
  const presentRequestsEnded = service.announceShutdown(shutdownDrainMs);
  if (leaveMs > 0) {
    let askedAt = clock.monotonic();
    const fetch = (request: Request): Promise<Response> => {
      askedAt = clock.monotonic();
      return lastAnswer(request, service);
    };
    server.reload({ routes: {}, fetch });
    // Answers that began earlier do not close their connections, each of which may carry one more request.
    await Promise.all([sleep(clock, leaveMs), presentRequestsEnded]);
    if (!(await leavePort(server.port ?? 0, clock))) log.warn({ event: "port.closed_at_once" }, "New connections may be reset");
    await untilQuiet(clock, () => askedAt);
  }
  const endsAt = clock.monotonic() + shutdownDrainMs;
  const answered = new AbortController();
  void server.stop(false).then(() => answered.abort());
  await sleep(clock, shutdownDrainMs, answered.signal);
  return Math.max(0, endsAt - clock.monotonic());
}

async function lastAnswer(request: Request, { app }: Pick<Service, "app">): Promise<Response> {
  const response = await app.fetch(request);
  response.headers.set("connection", "close");
  return response;
}

/** Waits for the last request of each open connection: closing a connection while a request arrives resets it. */
async function untilQuiet(clock: Clock, askedAt: () => number): Promise<void> {
  const [began, endsAt] = [clock.monotonic(), clock.monotonic() + shutdownLingerMsMax];
  for (let quietAt = began + shutdownLingerMs; quietAt > clock.monotonic() && clock.monotonic() < endsAt;) {
    await sleep(clock, quietAt - clock.monotonic());
    // These turns handle requests that arrived while the process was busy.
    for (let turn = 0; turn < 2; turn++) await new Promise<void>((resolve) => void clock.endOfTurn(resolve));
    quietAt = Math.max(began, askedAt()) + shutdownLingerMs;
  }
}
