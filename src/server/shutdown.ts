/**
 * How a gateway that was told to stop hands its clients over. For a while it goes on serving, each answer the last one of its
 * connection, so that balancers and whoever keeps connections look elsewhere; then it takes no new connection and ends what it has.
 */
import type { Service } from "./service.ts";
import { sleep, type Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import { shutdownDrainMs, shutdownLingerMs, shutdownLingerMsMax } from "./limits.ts";
import { leavePort } from "../process/leave-port.ts";

interface ShutdownOptions {
  server: NonNullable<Service["app"]["server"]>;
  service: Pick<Service, "app" | "leave">;
  /** 0: nobody else could serve. */
  leaveMs: number;
  clock: Clock;
  log: Logger;
}

/** Resolves when every answer has left, or when it is time to end them. @returns how long answers may still go on, in milliseconds */
export async function shutDownServer({ server, service, leaveMs, clock, log }: ShutdownOptions): Promise<number> {
  const presentRequestsEnded = service.leave(shutdownDrainMs);
  if (leaveMs > 0) {
    let askedAt = clock.monotonic();
    const fetch = (request: Request): Promise<Response> => {
      askedAt = clock.monotonic();
      return lastAnswer(request, service);
    };
    server.reload({ routes: {}, fetch });
    // Answers that began before do not say that they are the last ones: their connections bring one more request.
    await Promise.all([sleep(clock, leaveMs), presentRequestsEnded]);
    if (!(await leavePort(server.port ?? 0, clock)))
      log.warn({ event: "port.closed_at_once" }, "Connections that come now may be reset");
    await untilQuiet(clock, () => askedAt);
  }
  const endsAt = clock.monotonic() + shutdownDrainMs;
  const answered = new AbortController();
  void server.stop(false).then(() => answered.abort());
  await sleep(clock, shutdownDrainMs, answered.signal);
  return Math.max(0, endsAt - clock.monotonic());
}

/** Kept connections bring one more request each; whoever closes one at the moment in which it does resets it. */
async function untilQuiet(clock: Clock, askedAt: () => number): Promise<void> {
  const [began, endsAt] = [clock.monotonic(), clock.monotonic() + shutdownLingerMsMax];
  for (let quietAt = began + shutdownLingerMs; quietAt > clock.monotonic() && clock.monotonic() < endsAt;) {
    await sleep(clock, quietAt - clock.monotonic());
    // What came while the process was busy is taken in these turns.
    for (let turn = 0; turn < 2; turn++) await new Promise<void>((resolve) => void clock.endOfTurn(resolve));
    quietAt = Math.max(began, askedAt()) + shutdownLingerMs;
  }
}

async function lastAnswer(request: Request, { app }: Pick<Service, "app">): Promise<Response> {
  const response = await app.fetch(request);
  response.headers.set("connection", "close");
  return response;
}
