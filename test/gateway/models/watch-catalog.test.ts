import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { silentLog } from "../../../src/kernel/log.ts";
import type { Catalog } from "../../../src/gateway/models/model.ts";
import { watchCatalog } from "../../../src/gateway/models/watch-catalog.ts";
import { ManualClock } from "../../support/clock.ts";
import { writeStubCatalog } from "../../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { Watched } from "../../support/watched.ts";

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
