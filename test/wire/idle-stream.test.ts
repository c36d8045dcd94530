/** Quiet streams on the real clock get a comment after 15 s, and are not closed. */
import { beforeAll, describe, expect, test } from "bun:test";
import { streamCommentMs } from "../../src/gateway/limits.ts";
import type { Fleet } from "../support/servers/fleet.ts";
import { chat } from "../support/gateway/requests.ts";
import { formatsStage } from "./formats-stage.ts";

/** Longer than 10 and 20 s, after which servers and proxies close quiet streams. */
const quietMs = 21_000;
/** The additional time on a busy machine. */
const slackMs = 2_500;

interface Heard {
  text: string;
  atMs: number;
}

describe("a stream that is quiet for 21 s gets a comment after 15 s and is not closed", () => {
  let fleet: Fleet;
  let key = "";

  beforeAll(async () => {
    ({ fleet } = await formatsStage());
    key = (await fleet.operator().customer({ credit: "10" })).keys[0]?.key ?? "";
  }, 60_000);

  /** Reads the first events of the sandbox's answer to this command, then hangs up. */
  async function hear(command: string, count: number): Promise<Heard[]> {
    const startedAt = performance.now();
    const messages = [{ role: "user", content: `sandbox: ${command}` }];
    const response = await chat({ url: fleet.url(), key, body: { model: "sandbox/echo", messages, stream: true } });
    expect(response.status).toBe(200);
    const heard: Heard[] = [];
    let rest = "";
    for await (const bytes of response.body ?? []) {
      const lines = (rest + new TextDecoder().decode(bytes)).split("\n");
      rest = lines.pop() ?? "";
      heard.push(...lines.filter((text) => text !== "").map((text) => ({ text, atMs: performance.now() - startedAt })));
      if (heard.length >= count) break;
    }
    return heard;
  }

  function expectComment(comment: Heard | undefined, quietSince: number): void {
    expect(comment?.text).toBe(": keep-alive");
    expect((comment?.atMs ?? 0) - quietSince).toBeWithin(streamCommentMs - 100, streamCommentMs + slackMs);
  }

  test.concurrent(
    "a quiet stream gets a comment before its first event",
    async () => {
      const [comment, role, text] = await hear(`tokens=1 delay_ms=${quietMs}`, 3);
      expectComment(comment, 0);
      expect([role?.text, text?.text].join()).toMatch(/"role":"assistant".*"content":"tok "/s);
      expect(text?.atMs).toBeWithin(quietMs - 100, quietMs + slackMs);
    },
    quietMs * 2,
  );

  test.concurrent(
    "a quiet stream gets a comment between two events",
    async () => {
      const [role, first, comment, second] = await hear(`tokens=2 gap_ms=${quietMs}`, 4);
      expect([role?.text, first?.text].join()).toMatch(/"role":"assistant".*"content":"tok "/s);
      expectComment(comment, first?.atMs ?? 0);
      expect(second?.text).toContain('"content":"tok "');
      expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeWithin(quietMs - 100, quietMs + slackMs);
    },
    quietMs * 2,
  );
});
