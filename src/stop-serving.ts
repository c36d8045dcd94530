/**
 * How a gateway that was told to stop hands its clients over. For a while it goes on serving, each answer the last one of its
 * connection, so that balancers and whoever keeps connections look elsewhere; then it takes no new connection and ends what it has.
 */
import type { Service } from "./service.ts";
import { sleep, type Clock } from "./kernel/clock.ts";
import type { Logger } from "./kernel/log.ts";
import { shutdownDrainMs, shutdownLingerMs } from "./limits/constants.ts";
import { leavePort } from "./process/leave-port.ts";

interface StopServingOptions {
  server: NonNullable<Service["app"]["server"]>;
  service: Pick<Service, "app" | "leave">;
  /** 0: nobody else could serve. */
  leaveMs: number;
  clock: Clock;
  log: Logger;
}

/** Resolves when every answer has left, or when it is time to end them. @returns how long answers may still go on, in milliseconds */
export async function stopServing({ server, service, leaveMs, clock, log }: StopServingOptions): Promise<number> {
  const presentEnded = service.leave(shutdownDrainMs);
  if (leaveMs > 0) {
    server.reload({ routes: {}, fetch: (request: Request) => lastAnswer(request, service) });
    // Answers that began before do not say that they are the last ones: their connections bring one more request.
    await Promise.all([sleep(clock, leaveMs), presentEnded]);
    if (!(await leavePort(server.port ?? 0, clock)))
      log.warn({ event: "port.closed_at_once" }, "Connections that come now may be reset");
    await sleep(clock, shutdownLingerMs);
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
