import { expect, test } from "bun:test";
import { pino } from "pino";
import { wrongPathHints } from "../../src/server/app.ts";
import { wrongPathHintMs } from "../../src/server/limits.ts";
import { ManualClock } from "../support/clock.ts";

test("a client without /gpt/v1 in its base URL leaves one hint in the log, and other unknown paths leave none", () => {
  const lines: string[] = [];
  const clock = new ManualClock();
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  const hint = wrongPathHints({ prefix: "/gpt/v1", clock, log });
  const ask = (path: string) => hint(new Request(`http://127.0.0.1:8080${path}`));
  for (const path of ["/v1/chat/completions", "/chat/completions", "/robots.txt", `/${"x".repeat(200)}/models`]) ask(path);
  expect(lines).toEqual(["/v1/chat/completions is not served: a client's base URL must end with /gpt/v1"]);
  ask("/gpt/v1/responses");
  expect(lines[1]).toBe("/gpt/v1/responses is not served: there is no /responses here");
  clock.advance(wrongPathHintMs);
  ask("/v1/chat/completions");
  expect(lines).toHaveLength(3);
});
