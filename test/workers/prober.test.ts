import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startProber, type ProberParts } from "../../workers/prober.ts";
import type { Topic } from "../../src/backing/bus.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { launchChecksAtOnce, launchChecksSilenceMsMax } from "../../src/gateway/limits.ts";
import { checkModels, openModels, type Models } from "../../src/gateway/models/models.ts";
import { readLaunchChecks, type CheckOutcome } from "../../src/gateway/models/store.ts";
import { UpstreamFailure } from "../../src/gateway/providers/provider.ts";
import type { ModelEntry } from "../../src/gateway/models/schema.ts";
import { embeddingModel } from "../support/providers/embedding-answers.ts";
import { ManualClock } from "../support/clock.ts";
import { databases, type TestDatabase } from "../support/servers/databases.ts";
import { stubModel, stubProvider, writeCatalog } from "../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

class Topics {
  readonly #handlers = new Set<{ topic: Topic; handler: (payload: Uint8Array) => void }>();

  listen(topic: Topic, handler: (payload: Uint8Array) => void): Disposable {
    const entry = { topic, handler };
    this.#handlers.add(entry);
    return { [Symbol.dispose]: () => void this.#handlers.delete(entry) };
  }

  broadcast(topic: Topic): void {
    for (const entry of this.#handlers) if (entry.topic === topic) entry.handler(new Uint8Array());
  }
}

const answer = {
  kind: "whole" as const,
  answer: {
    message: { role: "assistant" as const, content: "Hi", refusal: null },
    finishReason: "stop" as const,
    logprobs: null,
    usage: { promptTokens: 1, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 1, reasoningTokens: 0 },
  },
};

describe.each(databases)("launch checks on $name", ({ open, runsAll }) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await open();
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  /** Processes with one database: a gateway that requests checks and, after `start`, a prober. */
  async function world(
    providers: string[],
    more: ModelEntry[] = [],
  ): Promise<
    {
      gateway: Models;
      call: { answer: ProberParts["call"]; embed: ProberParts["embed"]; models: string[] };
      /** @param options.calls receives the models that the prober calls */
      start(options?: { lock?: ProberParts["lock"]; calls?: string[] }): void;
      check(id: string | null): Promise<CheckOutcome[]>;
    } & AsyncDisposable
  > {
    const stack = new AsyncDisposableStack();
    const folder = stack.use(await temporaryFolder());
    await database.sql`DELETE FROM launch_checks`;
    await writeCatalog(folder.path, {
      providers: providers.map((id) => stubProvider({ id })),
      models: Object.fromEntries(providers.map((id) => [id, [stubModel({ id: `${id}/model` }), ...more]])),
    });
    const bus = new Topics();
    const common = { sql: database.sql, bus, clock: systemClock, log: silentLog };
    const opened = () =>
      openModels({ folder: folder.path, sandbox: true, ...common, environmentKey: () => new Secret("key"), keyring: null });
    const [gateway, models] = [stack.use(await opened()), stack.use(await opened())];
    const embed: ProberParts["embed"] = async () => ({ vectors: [[1, 0]], promptTokens: 1 });
    const call: { answer: ProberParts["call"]; embed: typeof embed; models: string[] } = {
      answer: async () => answer,
      embed,
      models: [],
    };
    return {
      gateway,
      call,
      start({ lock = async () => new AsyncDisposableStack(), calls = call.models } = {}) {
        const counted: ProberParts["call"] = (reservation, providerCall, options) => {
          calls.push(providerCall.chat.model);
          return call.answer(reservation, providerCall, options);
        };
        stack.use(startProber({ ...common, models, call: counted, embed: (...all) => call.embed(...all), lock }));
      },
      async check(id) {
        const ended: CheckOutcome[] = [];
        const chosen = gateway.list().filter((model) => id === null || model.id === id);
        const sources = { ...common, models: gateway, notify: (topic: Topic) => bus.broadcast(topic) };
        await checkModels({ chosen, onEnded: (outcome) => ended.push(outcome) }, sources);
        return ended;
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  }

  const reasonOf = (models: Models, id: string) => {
    const model = models.find(id);
    return model && models.availability(model, { zeroDataRetention: false, earlyAccess: ["embeddings"] }).reason;
  };

  test("missing checks run once at start and make their model callable", async () => {
    await using at = await world(["a", "b"]);
    at.start();
    await until(() => reasonOf(at.gateway, "a/model") === null && reasonOf(at.gateway, "b/model") === null);
    expect(at.call.models.toSorted()).toEqual(["a/model", "b/model"]);
  });

  if (!runsAll) return;

  test("an embeddings model is called for one text, and a vector of another length fails its check", async () => {
    await using at = await world(["a"], [embeddingModel({ id: "a/embed" })]);
    at.call.embed = async (_, { route, inputs, dimensionsExpected }) => {
      expect([route.upstreamModel, inputs, dimensionsExpected]).toEqual([
        "stub-embed",
        { kind: "texts", texts: ["One word"] },
        4,
      ]);
      return { vectors: [[1, 0, 0, 0]], promptTokens: 2 };
    };
    at.start();
    await until(() => reasonOf(at.gateway, "a/embed") === null);
    expect(at.call.models).toEqual(["a/model"]);
    at.call.embed = () => Promise.reject(new UpstreamFailure("upstream_error", "a vector of 3 numbers in place of 4"));
    expect(await at.check("a/embed")).toMatchObject([{ passed: false, code: "upstream_error" }]);
    expect(reasonOf(at.gateway, "a/embed")).toBe("launch_check_failed");
  });

  test("requested checks run again; the request ends after all of them, and their results then apply", async () => {
    await using at = await world(["a", "b"]);
    at.start();
    await at.check(null);
    at.call.answer = async (_, { chat }) => {
      if (chat.model === "a/model") throw new UpstreamFailure("upstream_auth", "refused");
      return answer;
    };
    const ended = await at.check(null);
    expect(
      ended
        .map(({ model, provider, passed, code }) => ({ model, provider, passed, code }))
        .toSorted((x, y) => (x.model < y.model ? -1 : 1)),
    ).toEqual([
      { model: "a/model", provider: "a", passed: false, code: "upstream_auth" },
      { model: "b/model", provider: "b", passed: true, code: null },
    ]);
    expect([reasonOf(at.gateway, "a/model"), reasonOf(at.gateway, "b/model")]).toEqual(["launch_check_failed", null]);
  });

  test("a check of one model does not run the others", async () => {
    await using at = await world(["a", "b"]);
    at.start();
    await at.check(null);
    at.call.models.length = 0;
    expect(await at.check("b/model")).toHaveLength(1);
    expect(at.call.models).toEqual(["b/model"]);
  });

  test("a repeated check keeps its model callable until it has ended", async () => {
    await using at = await world(["a"]);
    at.start();
    await at.check(null);
    const held = Promise.withResolvers<void>();
    at.call.models.length = 0;
    at.call.answer = async () => {
      await held.promise;
      throw new UpstreamFailure("upstream_timeout", "late");
    };
    const checking = at.check(null);
    await until(() => at.call.models.length === 1);
    await at.gateway.refreshChecks();
    expect(reasonOf(at.gateway, "a/model")).toBeNull();
    held.resolve();
    expect(await checking).toMatchObject([{ code: "upstream_timeout" }]);
    expect(reasonOf(at.gateway, "a/model")).toBe("launch_check_failed");
  });

  test("the prober runs a bounded number of checks at a time", async () => {
    const names = Array.from({ length: 3 * launchChecksAtOnce }, (_, index) => `p${index}`);
    await using at = await world(names);
    let [now, most] = [0, 0];
    at.call.answer = async () => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setImmediate(resolve));
      now--;
      return answer;
    };
    at.start();
    expect(await at.check(null)).toHaveLength(names.length);
    expect(most).toBe(launchChecksAtOnce);
  });

  test("the sandbox has no checks, so a request for them ends at once", async () => {
    await using at = await world([]);
    expect(await at.check("sandbox/echo")).toEqual([]);
  });

  test("one prober runs checks at a time: a prober without the lock runs none", async () => {
    await using at = await world(["a"]);
    const lockedOut: string[] = [];
    at.start({ lock: async () => null, calls: lockedOut });
    at.start();
    await at.check(null);
    await at.check(null);
    expect(lockedOut).toEqual([]);
    expect(new Set(at.call.models)).toEqual(new Set(["a/model"]));
  });

  test("without a prober a request for checks fails with a question about it, and the checks stay requested", async () => {
    await using at = await world(["a"]);
    const clock = new ManualClock();
    const sources = { sql: database.sql, clock, models: at.gateway, notify: () => {} };
    const outcome = checkModels({ chosen: at.gateway.list() }, sources).then(
      () => "ended",
      (error: unknown) => String(error),
    );
    let ended: string | null = null;
    void outcome.then((result) => (ended = result));
    await until(() => {
      clock.advance(launchChecksSilenceMsMax / 10);
      return ended !== null;
    });
    expect(ended as string | null).toContain("is a prober running?");
    at.start();
    await until(async () => (await readLaunchChecks(database.sql)).size === 1);
  });
});
