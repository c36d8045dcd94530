/** What a person and the machine's other users see of a start of one process, in a folder that was made beforehand. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fleet } from "../support/fleet.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const stack = new AsyncDisposableStack();
let service: Fleet;
let dataDir: string;

beforeAll(async () => {
  ({ path: dataDir } = stack.use(await temporaryFolder()));
  chmodSync(dataDir, 0o755);
  // As an earlier version left it.
  mkdirSync(join(dataDir, "spool"), { mode: 0o755 });
  writeFileSync(join(dataDir, "spool", "old"), "", { mode: 0o644 });
  service = stack.use(await Fleet.start({ services: null, dataDir }));
}, 60_000);
afterAll(() => stack.disposeAsync(), 30_000);

test("no other user of the machine reads anything of a data folder that was made with rights for all", () => {
  const open = readdirSync(dataDir).filter((name) => (lstatSync(join(dataDir, name)).mode & 0o077) !== 0);
  expect(open).toEqual([]);
  expect(readdirSync(dataDir)).toEqual(expect.arrayContaining(["lock", "postgres", "secrets-key", "spool"]));
});

test("the first start prints the keys on standard output, terminal or not", () => {
  expect(service.gateways[0]?.process.output).toMatch(/^ {2}platform-api-[0-9a-f]{64}$/m);
});
