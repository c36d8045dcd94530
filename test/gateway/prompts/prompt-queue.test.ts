import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { pino } from "pino";
import type { Queries } from "../../../src/backing/backing.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { newGenerationId } from "../../../src/kernel/ids.ts";
import { promptsDroppedTotal } from "../../../src/kernel/metrics.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import {
  promptBytesWaitingMax,
  promptWriteAttemptsMax,
  promptWriteRetryMs,
  promptsWaitingMax,
} from "../../../src/gateway/prompts/limits.ts";
import { PromptQueue } from "../../../src/gateway/prompts/prompt-queue.ts";
import type { PlainPrompt } from "../../../src/gateway/prompts/sealed-prompt.ts";
import { Keyring } from "../../../src/accounts/secrets/keyring.ts";
import { ManualClock, settled } from "../../support/clock.ts";
import { Control } from "../../support/control.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";

const keyring = new Keyring([new Secret(Buffer.alloc(32, 5).toString("base64"))]);

async function dropped(reason: string): Promise<number> {
  const { values } = await promptsDroppedTotal.get();
  return values.find(({ labels }) => labels["reason"] === reason)?.value ?? 0;
}

function prompt(workspace: string, text = "Hello"): PlainPrompt {
  const at = Date.UTC(2026, 10, 20);
  const messages = [{ role: "user", content: text }];
  return {
    generation: newGenerationId(at),
    workspace,
    at,
    messages,
    parameters: {},
    answer: { content: text },
    answerCut: false,
  };
}

describe.each(databases)("the prompt queue on $name", ({ open, runsAll }) => {
  let database: TestDatabase;
  let control: Control;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  async function workspace({ storage = true } = {}): Promise<string> {
    const { id } = await control.expect("POST", "/workspaces", { body: { name: crypto.randomUUID() } });
    await control.expect("PATCH", `/workspaces/${String(id)}`, { body: { prompt_storage: storage } });
    return String(id);
  }
  const queue = (ring = keyring, logged: string[] = []) => {
    const log = pino({}, { write: (line: string) => void logged.push(line) });
    return new PromptQueue({ sql: database.sql, keyring: ring, clock: systemClock, log });
  };
  const stored = async (id: string) =>
    (await database.sql<{ n: bigint }[]>`SELECT count(*) AS n FROM stored_prompts WHERE workspace_id = ${id}`)[0]?.n;

  test("the queue writes all prompts of several workspaces in batches", async () => {
    const [a, b] = [await workspace(), await workspace()];
    const prompts = queue();
    for (let n = 0; n < 150; n++) for (const id of [a, b]) prompts.add(prompt(id), 100);
    await prompts.flushed(10_000);
    expect([await stored(a), await stored(b)]).toEqual([150n, 150n]);
  });

  if (!runsAll) return;

  test("a repeated write stores a prompt once", async () => {
    const id = await workspace();
    const prompts = queue();
    const one = prompt(id);
    for (let n = 0; n < 3; n++) prompts.add(one, 100);
    await prompts.flushed(10_000);
    expect(await stored(id)).toBe(1n);
  });

  test("the queue writes no prompt if storage is off at the time of the write", async () => {
    const [off, on] = [await workspace({ storage: false }), await workspace()];
    const prompts = queue();
    for (const id of [off, on]) prompts.add(prompt(id), 100);
    await prompts.flushed(10_000);
    expect([await stored(off), await stored(on)]).toEqual([0n, 1n]);
  });

  test("the queue writes prompts of 8 MiB", async () => {
    const id = await workspace();
    const prompts = queue();
    prompts.add(prompt(id, "x".repeat(8 * 1024 * 1024)), 8 * 1024 * 1024);
    await prompts.flushed(30_000);
    expect(await stored(id)).toBe(1n);
  }, 60_000);

  test("the queue drops and counts prompts whose data key cannot be unsealed, and stores the others", async () => {
    const [locked, free] = [await workspace(), await workspace()];
    const first = queue();
    first.add(prompt(locked), 100);
    await first.flushed(10_000);
    const before = await dropped("failed");
    const logged: string[] = [];
    const prompts = queue(new Keyring([new Secret(Buffer.alloc(32, 6).toString("base64"))]), logged);
    for (const id of [locked, free]) prompts.add(prompt(id, "canary in a prompt"), 100);
    await prompts.flushed(10_000);
    expect([await stored(locked), await stored(free), await dropped("failed")]).toEqual([1n, 1n, before + 1]);
    expect(logged.join("")).toContain(`The key ${keyring.first.id} is needed`);
    expect(logged.join("")).not.toContain("canary");
  });
});

describe("the bounds of the prompt queue", () => {
  /** A database whose results the test decides for each statement. */
  function stuck(): { sql: Queries; statements: () => number; fail(): void } {
    const waiting: ((error: Error) => void)[] = [];
    let statements = 0;
    const statement = (): Promise<never> => {
      statements++;
      return new Promise((_, reject) => waiting.push(reject));
    };
    const fail = () => {
      for (const reject of waiting.splice(0))
        reject(Object.assign(new Error("canary of a database"), { code: "CONNECTION_CLOSED" }));
    };
    return { sql: statement as unknown as Queries, statements: () => statements, fail };
  }

  function queueOf(sql: Queries, clock = new ManualClock(), logged: string[] = []) {
    return new PromptQueue({ sql, keyring, clock, log: pino({}, { write: (line: string) => void logged.push(line) }) });
  }

  test("the queue starts in the next turn of the event loop and never makes its caller wait", async () => {
    const { sql, statements } = stuck();
    const prompts = queueOf(sql);
    for (let n = 0; n < 100; n++) expect(prompts.add(prompt("ws-1"), 100)).toBeUndefined();
    await Promise.resolve();
    expect(statements()).toBe(0);
    await settled();
    expect(statements()).toBe(1);
  });

  test("the queue drops and counts prompts beyond its bounds in number and bytes", async () => {
    const before = await dropped("full");
    const many = queueOf(stuck().sql);
    for (let n = 0; n < promptsWaitingMax + 3; n++) many.add(prompt("ws-1"), 1);
    expect(await dropped("full")).toBe(before + 3);
    const large = queueOf(stuck().sql);
    for (let n = 0; n < 5; n++) large.add(prompt("ws-1"), promptBytesWaitingMax / 4);
    expect(await dropped("full")).toBe(before + 4);
  });

  test("the queue tries a few times if the database does not answer, then drops and counts the prompts and has room again", async () => {
    const [before, full] = [await dropped("failed"), await dropped("full")];
    const { sql, statements, fail } = stuck();
    const clock = new ManualClock();
    const logged: string[] = [];
    const prompts = queueOf(sql, clock, logged);
    prompts.add(prompt("ws-1", "canary of a prompt"), promptBytesWaitingMax);
    for (let attempt = 1; attempt <= promptWriteAttemptsMax; attempt++) {
      await settled();
      expect(statements()).toBe(attempt);
      fail();
      await clock.pass(promptWriteRetryMs);
    }
    expect(await dropped("failed")).toBe(before + 1);
    prompts.add(prompt("ws-1"), promptBytesWaitingMax);
    expect(await dropped("full")).toBe(full);
    expect(logged.join("")).toContain("CONNECTION_CLOSED");
    expect(logged.join("")).not.toContain("canary");
  });

  test("a flush waits no longer than its deadline", async () => {
    const clock = new ManualClock();
    const prompts = queueOf(stuck().sql, clock);
    prompts.add(prompt("ws-1"), 100);
    let flushed = false;
    void prompts.flushed(10_000).then(() => (flushed = true));
    await clock.pass(9_999);
    expect(flushed).toBe(false);
    await clock.pass(1);
    expect(flushed).toBe(true);
  });
});
