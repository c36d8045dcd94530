import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findKept, postpone, removeOldest } from "../../scripts/services/find-servers.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const day = 86_400_000;

/** A program that was unpacked this many days ago. */
function unpack(folder: string, days: number): void {
  mkdirSync(join(folder, "usr/bin"), { recursive: true });
  writeFileSync(join(folder, "usr/bin/redis-server"), "");
  const at = new Date(Date.now() - days * day);
  utimesSync(folder, at, at);
}

test("a server that was unpacked more than a week ago is downloaded again, since it gets no updates", async () => {
  await using cache = await temporaryFolder();
  const find = () => findKept(cache.path, "redis-server", () => true);
  expect(find()).toBeNull();
  unpack(join(cache.path, "redis-server-1"), 8);
  expect(find()).toMatchObject({ folder: join(cache.path, "redis-server-1"), isOld: true });
  const fresh = join(cache.path, "redis-server-2");
  unpack(fresh, 6);
  expect(find()).toMatchObject({ folder: fresh, isOld: false, program: { path: join(fresh, "usr/bin/redis-server") } });
});

test("the previous server serves where the newest does not work", async () => {
  await using cache = await temporaryFolder();
  unpack(join(cache.path, "redis-server-1"), 2);
  unpack(join(cache.path, "redis-server-2"), 1);
  const works = ({ path }: { path: string }) => path.includes("redis-server-1/");
  expect(findKept(cache.path, "redis-server", works)).toMatchObject({ folder: join(cache.path, "redis-server-1") });
});

test("without a network the old server serves, and the next attempt follows a day later", async () => {
  await using cache = await temporaryFolder();
  unpack(join(cache.path, "redis-server-1"), 8);
  const find = () => findKept(cache.path, "redis-server", () => true);
  const old = find();
  if (old !== null) postpone(old);
  expect(find()?.isOld).toBe(false);
  const tomorrow = new Date(Date.now() - 7 * day - 1_000);
  utimesSync(join(cache.path, "redis-server-1"), tomorrow, tomorrow);
  expect(find()?.isOld).toBe(true);
});

test("the newest few versions stay, since a fleet may still run an older one, and other programs are not touched", async () => {
  await using cache = await temporaryFolder();
  for (const days of [1, 2, 3, 4, 5]) unpack(join(cache.path, `redis-server-${days}`), days);
  unpack(join(cache.path, "redis-server-tools"), 9);
  await removeOldest(cache.path, "redis-server");
  const left = ["redis-server-1", "redis-server-2", "redis-server-3", "redis-server-tools"];
  expect(readdirSync(cache.path).toSorted()).toEqual(left);
});
