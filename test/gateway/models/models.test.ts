import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Keyring } from "../../../src/accounts/secrets/keyring.ts";
import type { Queries } from "../../../src/backing/backing.ts";
import type { Topic } from "../../../src/backing/bus.ts";
import { launchChecksPollMs, launchChecksRetryMs } from "../../../src/gateway/limits.ts";
import type { Catalog, ProviderRecord } from "../../../src/gateway/models/model.ts";
import { sealServiceKey } from "../../../src/gateway/models/decisions.ts";
import { openModels, type Models, watchCatalog } from "../../../src/gateway/models/models.ts";
import { readLaunchChecks, recordLaunchCheck, type CheckOutcome } from "../../../src/gateway/models/store.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { ManualClock } from "../../support/clock.ts";
import { stubModel, stubProvider, writeCatalog, writeStubCatalog } from "../../support/providers/stub-catalog.ts";
import { secretsKeyNamed } from "../../support/secrets-key.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";
import { Watched } from "../../support/watched.ts";

/** The topics of a bus, in this process. */
class Topics {
  readonly #handlers = new Map<Topic, Set<(payload: Uint8Array) => void>>();

  listen(topic: Topic, handler: (payload: Uint8Array) => void): Disposable {
    const handlers = this.#handlers.get(topic) ?? new Set();
    this.#handlers.set(topic, handlers.add(handler));
    return { [Symbol.dispose]: () => void handlers.delete(handler) };
  }

  broadcast(topic: Topic): void {
    for (const handler of this.#handlers.get(topic) ?? []) handler(new Uint8Array());
  }
}

const requirements = { zeroDataRetention: false, earlyAccess: [] };

function reasonOf(models: Models): string | null {
  const model = models.find("stub/model");
  return model === null ? "not found" : models.usableRoutes(model, requirements).reason;
}

function passed(models: Models): CheckOutcome {
  const entry = models.find("stub/model")?.routes[0]?.entry ?? "";
  return { model: "stub/model", provider: "stub", entry, passed: true, code: null };
}

const keyring = new Keyring([new Secret(secretsKeyNamed("models"))]);

async function open(folder: string, sql: Queries, bus = new Topics(), clock = new ManualClock()): Promise<Models> {
  const models = { stub: [stubModel(), stubModel({ id: "stub/hidden", published: false })] };
  await writeCatalog(folder, { providers: [stubProvider()], models });
  return openModels({ folder, sandbox: true, clock, log: silentLog, sql, bus, environmentKey: () => new Secret("key"), keyring });
}

for (const database of databases) {
  describe(`launch checks in ${database.name}`, () => {
    let store: TestDatabase;
    beforeAll(async () => {
      store = await database.open();
    }, 60_000);
    afterAll(() => store[Symbol.asyncDispose]());

    test("the store keeps the last check of a model and provider", async () => {
      const check: CheckOutcome = { model: "m", provider: "p", entry: "one", passed: false, code: "upstream_auth" };
      await recordLaunchCheck(store.sql, check);
      await recordLaunchCheck(store.sql, { ...check, entry: "two", passed: true, code: null });
      await recordLaunchCheck(store.sql, { ...check, provider: "q" });
      const checks = await readLaunchChecks(store.sql);
      expect([...checks.values()].filter((one) => one.model === "m")).toHaveLength(2);
      expect(checks.get("one")).toMatchObject({ provider: "q", code: "upstream_auth" });
      expect(checks.get("two")).toMatchObject({ provider: "p", passed: true, code: null });
    });

    test("a passed check makes a model callable at the notification, or within seconds without one", async () => {
      await using folder = await temporaryFolder();
      const bus = new Topics();
      const clock = new ManualClock();
      using models = await open(folder.path, store.sql, bus, clock);
      expect(reasonOf(models)).toBe("launch_check_missing");
      await recordLaunchCheck(store.sql, passed(models));
      bus.broadcast("checks-changed");
      await until(() => reasonOf(models) === null);
      await recordLaunchCheck(store.sql, { ...passed(models), passed: false });
      clock.advance(launchChecksPollMs);
      await until(() => reasonOf(models) === "launch_check_failed");
    });

    test("a row of the database stands over the files and the environment in every process, at the notification or within seconds", async () => {
      await using folder = await temporaryFolder();
      const bus = new Topics();
      const clock = new ManualClock();
      using models = await open(folder.path, store.sql, bus, clock);
      await recordLaunchCheck(store.sql, passed(models));
      await models.refreshChecks();
      const provider = () => aProvider(models.catalog());
      const key = () => models.serviceKey(provider())?.reveal();
      expect([reasonOf(models), key()]).toEqual([null, "key"]);
      const sealed = Buffer.from(sealServiceKey({ provider: "stub", key: new Secret("stored") }, keyring));
      await store.sql`
        INSERT INTO service_providers (provider_id, sealed, terms_checked, subprocessor_listed, disabled, changed_at)
        VALUES ('stub', ${sealed}, false, true, false, now())`;
      bus.broadcast("checks-changed");
      await until(() => reasonOf(models) === "terms_not_checked");
      expect(key()).toBe("stored");
      await store.sql`UPDATE service_providers SET terms_checked = NULL, disabled = true`;
      clock.advance(launchChecksPollMs);
      await until(() => reasonOf(models) === "provider_disabled");
      await store.sql`DELETE FROM service_providers`;
      clock.advance(launchChecksPollMs);
      await until(() => reasonOf(models) === null);
      expect(key()).toBe("key");
    });

    test("a process that started without the database reads the checks half a second after it is back", async () => {
      await using folder = await temporaryFolder();
      const clock = new ManualClock();
      const away = Object.assign(() => Promise.reject(new Error("away")), {}) as unknown as Queries;
      let sql = away;
      const changing = ((...words: Parameters<Queries>) => sql(...words)) as unknown as Queries;
      using models = await open(folder.path, changing, new Topics(), clock);
      await recordLaunchCheck(store.sql, passed(models));
      expect(reasonOf(models)).toBe("launch_check_missing");
      sql = store.sql;
      clock.advance(launchChecksRetryMs);
      await until(() => reasonOf(models) === null);
    });
  });
}

function aProvider(catalog: Catalog | null): ProviderRecord {
  const provider = catalog?.providers.get("stub");
  if (!provider) throw new Error("There is no provider");
  return provider;
}

/** A database with the same result for every statement. */
function databaseWith(result: () => Promise<unknown[]>): Queries {
  return result as unknown as Queries;
}

describe("the models of a process", () => {
  test("the models are the published ones", async () => {
    await using folder = await temporaryFolder();
    using models = await open(
      folder.path,
      databaseWith(() => Promise.resolve([])),
    );
    expect(models.find("stub/hidden")).toBeNull();
    expect(models.find("unknown/model")).toBeNull();
    expect(models.list().map((model) => model.id)).toEqual(["stub/model", "sandbox/echo", "sandbox/embed"]);
  });

  test("a read of the launch checks that began earlier and ends later does not undo what a later one found", async () => {
    await using folder = await temporaryFolder();
    const bus = new Topics();
    const reads: ((rows: unknown[]) => void)[] = [];
    let read = (): Promise<unknown[]> => Promise.resolve([]);
    using models = await open(
      folder.path,
      databaseWith(() => read()),
      bus,
    );
    read = () => new Promise((resolve) => reads.push(resolve));
    bus.broadcast("checks-changed");
    bus.broadcast("checks-changed");
    // A read has two statements: launch checks, then decisions.
    reads[2]?.([{ ...passed(models), requested: false }]);
    reads[3]?.([]);
    await until(() => reasonOf(models) === null);
    for (const early of reads.slice(0, 2)) early([]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(reasonOf(models)).toBeNull();
  });

  test("without a database only models that need no launch check can be called", async () => {
    await using folder = await temporaryFolder();
    using models = await open(
      folder.path,
      databaseWith(() => Promise.reject(new Error("no database"))),
    );
    const echo = models.find("sandbox/echo");
    expect(echo && models.usableRoutes(echo, requirements).reason).toBeNull();
    expect(reasonOf(models)).toBe("launch_check_missing");
  });
});

const url = "http://127.0.0.1:9/v1";

async function watching(folder: string) {
  const clock = new ManualClock();
  const changes = new Watched<Catalog[]>([]);
  const alarms = new Watched<string[]>([]);
  const watch = await watchCatalog({
    folder,
    sandbox: false,
    clock,
    log: silentLog,
    changed(catalog) {
      changes.value.push(catalog);
      changes.touch();
    },
    alarm(error) {
      alarms.value.push(error.message);
      alarms.touch();
    },
  });
  return { clock, changes, alarms, watch };
}

test("a changed catalog applies within 30 seconds", async () => {
  await using folder = await temporaryFolder();
  await writeStubCatalog(folder.path, { url });
  const { clock, changes, watch } = await watching(folder.path);
  using _watch = watch;
  await writeStubCatalog(folder.path, { url, model: { name: "Renamed" } });
  clock.advance(30_000);
  await changes.until((all) => all.length === 2, "the second catalog");
  expect(watch.current()?.models.get("stub/model")?.name).toBe("Renamed");
});

test("an invalid file keeps the last valid catalog and raises one alarm; a valid one clears the problem", async () => {
  await using folder = await temporaryFolder();
  await writeStubCatalog(folder.path, { url });
  const { clock, changes, alarms, watch } = await watching(folder.path);
  using _watch = watch;
  await writeFile(join(folder.path, "models/stub.json"), "not JSON");
  clock.advance(30_000);
  await alarms.until((all) => all.length === 1, "the alarm");
  expect(watch.current()?.models.has("stub/model")).toBe(true);
  expect(watch.problem()).toContain("models/stub.json");
  await watch.refresh();
  await watch.refresh();
  expect(alarms.value).toHaveLength(1);
  await writeStubCatalog(folder.path, { url, model: { name: "Mended" } });
  await watch.refresh();
  expect(watch.problem()).toBeNull();
  expect(changes.value.at(-1)?.models.get("stub/model")?.name).toBe("Mended");
});

test("the same valid files after an invalid one give the kept catalog", async () => {
  await using folder = await temporaryFolder();
  await writeStubCatalog(folder.path, { url });
  const { changes, watch } = await watching(folder.path);
  using _watch = watch;
  await writeFile(join(folder.path, "models/stub.json"), "{}");
  await watch.refresh();
  expect(watch.problem()).not.toBeNull();
  await writeStubCatalog(folder.path, { url });
  await watch.refresh();
  expect(watch.problem()).toBeNull();
  expect(changes.value).toHaveLength(1);
});

test("without a valid catalog there is none, until the files are valid", async () => {
  await using folder = await temporaryFolder();
  const { clock, changes, alarms, watch } = await watching(join(folder.path, "not-yet"));
  using _watch = watch;
  expect(watch.current()).toBeNull();
  expect(alarms.value).toHaveLength(1);
  await writeStubCatalog(join(folder.path, "not-yet"), { url });
  clock.advance(30_000);
  await changes.until((all) => all.length === 1, "the first catalog");
  expect(watch.problem()).toBeNull();
});

test("a disposed watch leaves no timer", async () => {
  await using folder = await temporaryFolder();
  await writeStubCatalog(folder.path, { url });
  const { clock, watch } = await watching(folder.path);
  expect(clock.pending).toBe(1);
  watch[Symbol.dispose]();
  expect(clock.pending).toBe(0);
});
