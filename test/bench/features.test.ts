import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { compose } from "../../bench/features/compose.ts";
import type { ComposedStep } from "../../bench/features/steps.ts";
import { notifying } from "../../src/backing/backing.ts";
import { EmbeddedBus } from "../../src/backing/embedded/bus.ts";
import { EmbeddedCounters } from "../../src/backing/embedded/counters.ts";
import { readConfig } from "../../src/config.ts";
import { firstStart } from "../../src/control-api/first-start.ts";
import type { Gateway } from "../../src/gateway/api/gateway.ts";
import { inferenceRoutes } from "../../src/gateway/api/routes.ts";
import { systemClock as clock } from "../../src/kernel/clock.ts";
import { silentLog as log } from "../../src/kernel/log.ts";
import { requestsPerMinuteDefault } from "../../src/accounts/limits.ts";
import { openModels } from "../../src/gateway/models/models.ts";
import { startAdmission } from "../../workers/admission.ts";
import { openEmbeddedDatabase } from "../support/servers/databases.ts";
import { temporaryFolder } from "../support/servers/services.ts";
import { until } from "../support/until.ts";

/** Opened before the steps, since the first start takes seconds. */
beforeAll(() => openEmbeddedDatabase(), 30_000);

const model = "sandbox/echo";
const composedSteps: ComposedStep[] = ["app", "key", "spool", "memory", "fleet", "events"];

interface World extends AsyncDisposable {
  gateway: Gateway;
  folder: string;
  chat(key?: string): Promise<Response>;
}

/** The parts of a fleet in one process, which a composed gateway cannot distinguish from a fleet. */
async function open(step: ComposedStep): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await openEmbeddedDatabase());
  const bus = stack.use(new EmbeddedBus({ sql: database.sql, clock, log }));
  const sql = notifying(database.sql, (topic) => bus.broadcast(topic));
  const folder = await temporaryFolder("features");
  const config = readConfig({ DATA_DIR: folder });
  const models = stack.use(
    await openModels({
      folder: config.catalogDir,
      sandbox: true,
      sql,
      bus,
      clock,
      log,
      environmentKey: () => null,
      keyring: null,
    }),
  );
  const first = await firstStart({ sql, clock, slug: config.slug });
  const key = first?.key ?? "";
  const counters = stack.use(new EmbeddedCounters(clock));
  const backing = { sql, reads: sql, bus };
  stack.use(await startAdmission({ backing, counters, models, clock, log }));
  const gateway = await compose({ step, config, backing, models, clock, log, folder, key, model }, stack);
  const app = inferenceRoutes(gateway);
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hello, weir" }], max_tokens: 16 });
  const kept = stack.move();
  return {
    gateway,
    folder,
    async chat(given = key) {
      const headers = { authorization: `Bearer ${given}`, "content-type": "application/json" };
      return app.handle(new Request("http://127.0.0.1/gpt/v1/chat/completions", { method: "POST", headers, body }));
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

const wrongKey = `platform-api-${"0".repeat(64)}`;

function spooledLines(folder: string): number {
  const spool = join(folder, "spool");
  if (!existsSync(spool)) return 0;
  const texts = readdirSync(spool).map((name) => readFileSync(join(spool, name), "utf8"));
  return texts.join("").split("\n").length - 1;
}

describe.each(composedSteps)("the bench's step %s", (step) => {
  const place = composedSteps.indexOf(step);
  const has = (feature: ComposedStep): boolean => place >= composedSteps.indexOf(feature);

  test("the composed gateway answers, with exactly its features", async () => {
    await using world = await open(step);
    const answer = await world.chat();
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain("Hello, weir");
    expect((await world.chat(wrongKey)).status).toBe(has("key") ? 401 : 200);
    expect(spooledLines(world.folder) > 0).toBe(has("spool"));
    const others = await Promise.all(Array.from({ length: requestsPerMinuteDefault }, () => world.chat()));
    expect(others.some(({ status }) => status === 429)).toBe(has("memory"));
    if (has("spool")) await until(() => world.gateway.journal.unsettled === 0);
  });
});
