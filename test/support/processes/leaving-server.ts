/** A server on a shared port, which leaves it like a gateway that shuts down: `bun leaving-server.ts PORT`. */
import { once } from "node:events";
import { Elysia } from "elysia";
import { systemClock, type Clock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { type Service, shutDownServer } from "../../../src/server/service.ts";

/** Before each step it computes for a while, so that connections arrive that it has not accepted yet. */
const busyMs = 30;
const busyClock: Clock = {
  ...systemClock,
  after: (ms, callback) =>
    systemClock.after(ms, () => {
      const endsAt = performance.now() + busyMs;
      while (performance.now() < endsAt);
      callback();
    }),
};

const app = new Elysia().all("/*", () => new Response("served"));
const { server } = app.listen({ port: Number(process.argv[2]), hostname: "127.0.0.1", reusePort: true });
if (server === null) throw new Error("There is no server");
console.log("listening");
await once(process, "SIGTERM");
const service: Pick<Service, "app" | "announceShutdown"> = {
  app: app as unknown as Service["app"],
  announceShutdown: async () => {},
};
await shutDownServer({ server, service, leaveMs: 100, clock: busyClock, log: silentLog });
process.exit(0);
