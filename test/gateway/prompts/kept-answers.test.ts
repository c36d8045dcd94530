import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import pino from "pino";
import { idempotencyMs } from "../../../src/gateway/limits.ts";
import { keptAnswerBytesMax } from "../../../src/gateway/prompts/limits.ts";
import { AnswerKeeper, KeptAnswers, startForgettingAnswers, type KeptAnswer } from "../../../src/gateway/prompts/kept-answers.ts";
import { answerBlocks } from "../../../src/gateway/api/answer/block-sequence.ts";
import type { AnswerWants, ProviderEvent } from "../../../src/gateway/providers/provider.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { newGenerationId } from "../../../src/kernel/ids.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { ManualClock } from "../../support/clock.ts";
import { Control } from "../../support/control.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";
import { until } from "../../support/until.ts";

const noon = Date.UTC(2026, 10, 20, 12);
const said = "The canary sings";
const blankMessage = { role: "assistant" as const, content: null, refusal: null };

function kept(content = said): KeptAnswer {
  const usage = { promptTokens: 1, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 2, reasoningTokens: 0 };
  const answer = {
    message: { role: "assistant" as const, content, refusal: null },
    finishReason: "stop" as const,
    logprobs: null,
    usage,
  };
  const facts = { created: 1, completed: 2, model: "a/b", provider: "p", signer: "p.b" };
  return { answer, ...facts, usage, cost: "7", headers: { "x-route": "p/b" } };
}

describe.each(databases)("kept answers on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  let names = 0;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const answers = (log = silentLog): KeptAnswers =>
    new KeptAnswers({ sql: database.sql, keyring: control.keyring, clock: systemClock, log });

  async function workspace(isOn = true): Promise<string> {
    const id = await control.workspace(`w${++names}`);
    await database.sql`UPDATE workspaces SET idempotent_replay = ${isOn} WHERE id = ${id}`;
    return id;
  }

  async function keep(of: string, answer = kept(), at = noon): Promise<string> {
    const generation = newGenerationId(at);
    const queue = answers();
    queue.keep({ generation, workspace: of, at }, answer);
    await queue.flushed(10_000);
    return generation;
  }

  const count = async (of: string): Promise<number> => {
    const rows = await database.sql`SELECT generation_id FROM kept_answers WHERE workspace_id = ${of}`;
    return rows.length;
  };

  test("an answer is found by its workspace and generation, as it was, and its text is in no column and no line of the log", async () => {
    const lines: string[] = [];
    const of = await workspace();
    const generation = await keep(of);
    const found = answers(pino({}, { write: (line: string) => void lines.push(line) }));
    expect(await found.find({ workspace: of, generation })).toEqual(kept());
    expect(await found.find({ workspace: await workspace(), generation })).toBeNull();
    expect(await found.find({ workspace: of, generation: newGenerationId(noon) })).toBeNull();
    const [row] = await database.sql<
      { answer: Uint8Array }[]
    >`SELECT answer FROM kept_answers WHERE generation_id = ${generation}`;
    expect(Buffer.from(row?.answer ?? []).includes(said)).toBe(false);
    expect(lines.join("")).not.toContain(said);
  });

  test("an answer that was moved to another generation does not open, and the log does not quote it", async () => {
    const lines: string[] = [];
    const of = await workspace();
    const generation = await keep(of);
    const other = newGenerationId(noon);
    await database.sql`UPDATE kept_answers SET generation_id = ${other} WHERE generation_id = ${generation}`;
    const found = answers(pino({}, { write: (line: string) => void lines.push(line) }));
    expect(await found.find({ workspace: of, generation: other })).toBeNull();
    expect(lines.join("")).toContain("kept_answers.not_read");
  });

  test("nothing is kept without the setting, with zero data retention, or above the bound", async () => {
    const [off, retaining, on] = [await workspace(false), await workspace(), await workspace()];
    await database.sql`UPDATE workspaces SET zero_data_retention = true WHERE id = ${retaining}`;
    for (const of of [off, retaining]) await keep(of);
    await keep(on, kept("x".repeat(keptAnswerBytesMax)));
    expect([await count(off), await count(retaining), await count(on)]).toEqual([0, 0, 0]);
    await keep(on, kept("x".repeat(keptAnswerBytesMax - 1_000)));
    expect(await count(on)).toBe(1);
  });

  test("an answer is deleted after a day, and at once where its workspace keeps none any more", async () => {
    const clock = new ManualClock(noon + idempotencyMs);
    const [on, off] = [await workspace(), await workspace()];
    await keep(on, kept(), noon - 1);
    const young = await keep(on, kept(), noon);
    await keep(off, kept(), noon);
    await database.sql`UPDATE workspaces SET idempotent_replay = false WHERE id = ${off}`;
    await using _forgetting = startForgettingAnswers({ sql: database.sql, clock, log: silentLog });
    await until(async () => (await count(on)) === 1 && (await count(off)) === 0);
    expect(await answers().find({ workspace: on, generation: young })).toEqual(kept());
  });
});

describe("the answer of a stream", () => {
  const gather = (events: ProviderEvent[], wants?: AnswerWants): AnswerKeeper => {
    const keeper = new AnswerKeeper(wants);
    const tapped = keeper.tap({
      next: (receiver) => receiver.take(events),
      cancel: async () => {},
      [Symbol.asyncDispose]: async () => {},
    });
    tapped.next({ take: () => {} });
    return keeper;
  };
  const delta = (content: string): ProviderEvent => ({ kind: "delta", delta: { content }, finishReason: null });

  test("the answer of a stream is gathered as a whole one", () => {
    const end: ProviderEvent = { kind: "delta", delta: {}, finishReason: "length" };
    const { message, finishReason } = gather([delta("Hel"), delta("lo"), end, { kind: "end" }]).answer() ?? {};
    expect([message?.content, finishReason]).toEqual(["Hello", "length"]);
  });

  test("an answer with its thoughts is gathered as one piece for each text, thought and call, in their order", () => {
    const piece = (delta: Record<string, unknown>): ProviderEvent => ({ kind: "delta", delta, finishReason: null });
    const call = (more: Record<string, unknown>): ProviderEvent => piece({ tool_calls: [{ index: 0, ...more }] });
    const many = <Event>(event: Event): Event[] => Array.from({ length: 5_000 }, () => event);
    const thought: ProviderEvent = { kind: "thought", seal: "S", redacted: false };
    const said = [
      ...many(piece({ reasoning_content: "Hm" })),
      thought,
      ...many(delta("So")),
      call({ id: "c", type: "function", function: { name: "f", arguments: "" } }),
      ...many(call({ function: { arguments: "1" } })),
      call({ id: "d", type: "custom", custom: { name: "g", input: "" } }),
      ...many(call({ custom: { input: "2" } })),
      delta("!"),
    ];
    const { pieces = [] } = gather(said, { thoughts: true }).answer() ?? {};
    expect(pieces.map((one) => (one.kind === "delta" ? Object.keys(one.delta)[0] : one.kind))).toEqual([
      "reasoning_content",
      "thought",
      "content",
      "tool_calls",
      "tool_calls",
      "content",
    ]);
    expect(answerBlocks({ message: blankMessage, pieces })).toMatchObject([
      { kind: "thinking", text: "Hm".repeat(5_000), seal: "S" },
      { kind: "text", text: "So".repeat(5_000) },
      { kind: "call", id: "c", name: "f", text: "1".repeat(5_000) },
      { kind: "call", id: "d", name: "g", text: "2".repeat(5_000) },
      { kind: "text", text: "!" },
    ]);
    expect(JSON.stringify(pieces).length).toBeLessThan(keptAnswerBytesMax);
  });

  test("an answer that is far too large is not gathered to its end", () => {
    expect(gather(Array.from({ length: 17 }, () => delta("x".repeat(keptAnswerBytesMax)))).answer()).toBeNull();
  });
});
