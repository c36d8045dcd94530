/**
 * How a gateway that was told to stop hands its clients over: for a while it goes on serving, each answer the last one of its
 * connection, so that balancers and whoever keeps connections look elsewhere; then it takes no new connection and ends what it has.
 */
import type { Service } from "./service.ts";
import { sleep, type Clock } from "./kernel/clock.ts";
import { shutdownDrainMs } from "./limits/constants.ts";

interface StopServingOptions {
  server: NonNullable<Service["app"]["server"]>;
  app: Service["app"];
  /** 0: nobody else could serve. */
  leaveMs: number;
  clock: Clock;
}

/** Resolves when every answer has left, or when it is time to end them. @returns how long answers may still go on, in milliseconds */
export async function stopServing({ server, app, leaveMs, clock }: StopServingOptions): Promise<number> {
  if (leaveMs > 0) {
    server.reload({ routes: {}, fetch: (request: Request) => lastAnswer(request, app) });
    await sleep(clock, leaveMs);
  }
  const endsAt = clock.monotonic() + shutdownDrainMs;
  const answered = new AbortController();
  void server.stop(false).then(() => answered.abort());
  await sleep(clock, shutdownDrainMs, answered.signal);
  return Math.max(0, endsAt - clock.monotonic());
}

async function lastAnswer(request: Request, app: Service["app"]): Promise<Response> {
  const response = await app.fetch(request);
  response.headers.set("connection", "close");
  return response;
}
