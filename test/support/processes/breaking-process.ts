/** `bun breaking-process.ts`: serves one stream that breaks off like a gateway's, reads it, and prints nothing itself. */
import { bunStream, type TextSink } from "../../../src/gateway/api/answer/response.ts";
import { serverSettings } from "../../../src/process/serving.ts";
import { until } from "../until.ts";

const sinks: TextSink[] = [];
const server = Bun.serve({
  ...serverSettings,
  port: 0,
  hostname: "127.0.0.1",
  fetch: () =>
    new Response(
      bunStream({
        begin: (sink) => void sinks.push(sink),
        pull: () => sinks[0]?.send("data: one\n\n"),
        cancel: () => {},
      }),
    ),
});
const answer = await fetch(server.url);
const reader = answer.body?.getReader();
await reader?.read();
sinks[0]?.fail(new Error("the reason"));
let broken = false;
reader?.read().catch(() => (broken = true));
await until(() => broken);
await server.stop(true);
