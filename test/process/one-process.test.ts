/** What the operator and other users of the machine see when one process starts in a folder that already existed. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fleet } from "../support/servers/fleet.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const stack = new AsyncDisposableStack();
let service: Fleet;
let dataDir: string;

beforeAll(async () => {
  ({ path: dataDir } = stack.use(await temporaryFolder()));
  chmodSync(dataDir, 0o755);
  // With files that are open to all, as a volume or a backup may bring them.
  mkdirSync(join(dataDir, "spool"), { mode: 0o755 });
  writeFileSync(join(dataDir, "spool", "old"), "", { mode: 0o644 });
  service = stack.use(await Fleet.start({ services: null, dataDir, makesDatabase: true }));
}, 60_000);
afterAll(() => stack.disposeAsync(), 30_000);

test("no other user of the machine can read anything in a data folder that was created with permissions for all", () => {
  const open = readdirSync(dataDir).filter((name) => (lstatSync(join(dataDir, name)).mode & 0o077) !== 0);
  expect(open).toEqual([]);
  expect(readdirSync(dataDir)).toEqual(expect.arrayContaining(["lock", "postgres", "secrets-key", "spool"]));
});

test("the first start prints the keys on standard output, terminal or not", async () => {
  await until(() => /^ {2}export WEIR_KEY=platform-api-[0-9a-f]{64}$/m.test(service.gateways[0]?.process.output ?? ""));
});

test("/metrics requires the operator token from this machine too, since a proxy may run on it", async () => {
  const answer = await fetch(`${service.url()}/metrics`);
  expect([answer.status, await answer.text()]).toEqual([403, "Forbidden\n"]);
  const wrong = await fetch(`${service.url()}/metrics`, {
    headers: { authorization: "Bearer another-token-of-32-characters-and-more" },
  });
  expect(wrong.status).toBe(403);
  expect(await (await service.operator().send("/metrics")).text()).toContain("weir_generations_open 0");
});

const answers: [string, string][] = [
  ["GET", "/ready"],
  ["GET", "/openapi.json"],
  ["GET", "/gpt/v1/key"],
  ["GET", "/gpt/v1/models"],
  ["GET", "/gpt/v1/chat/completions"],
  ["POST", "/gpt/v1/chat/completions"],
  ["GET", "/nowhere"],
  ["POST", "/mcp"],
  ["POST", "/api/tools/platform_list_projects"],
  ["GET", "/api/console/workspaces"],
  ["GET", "/api/connectors"],
  ["GET", "/api/connectors/nobody"],
  ["GET", "/api/connector-schema.json"],
];

test.each(answers)("browsers treat the JSON of %s %s as nothing else", async (method, path) => {
  for (const answer of [await fetch(`${service.url()}${path}`, { method }), await service.operator().send(path, { method })]) {
    expect([path, answer.headers.get("content-type")]).toEqual([path, expect.stringMatching(/^application\/(schema\+)?json/)]);
    expect([path, answer.headers.get("x-content-type-options")]).toEqual([path, "nosniff"]);
  }
});

test("no cache stores readiness, refusals of the control API or the facts of a key", async () => {
  const [, key = ""] = /^ {2}export WEIR_KEY=(platform-api-[0-9a-f]{64})$/m.exec(service.gateways[0]?.process.output ?? "") ?? [];
  const headers = { authorization: `Bearer ${key}` };
  const kept = [
    await fetch(`${service.url()}/ready`),
    await fetch(`${service.url()}/api/console/workspaces`),
    await service.operator().send("/api/console/nowhere"),
    await fetch(`${service.url()}/gpt/v1/key`, { headers }),
  ];
  expect(kept.map(({ status }) => status)).toEqual([200, 401, 404, 200]);
  expect(kept.map((answer) => answer.headers.get("cache-control"))).toEqual(Array(4).fill("no-store"));
});
