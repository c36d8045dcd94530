/** No credential appears in what a process leaves behind: tables, files, logs, metrics, answers. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { openEmbeddedPostgres } from "../../../src/backing/embedded/postgres.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { objectOf } from "../../support/control.ts";
import { wholeCatalog } from "../../support/providers/catalogs.ts";
import { Fleet } from "../../support/servers/fleet.ts";
import { addSaid } from "../../support/privacy/privacy.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { Traces } from "../../support/privacy/traces.ts";

const stack = new AsyncDisposableStack();
const traces = new Traces();
const canary = (what: string): string => `canary${what}${crypto.randomUUID().replaceAll("-", "")}`;
const [first, second, wrong] = [canary("first"), canary("second"), canary("wrong")] as const;
let id = "";

beforeAll(async () => {
  const { path: dataDir } = stack.use(await temporaryFolder());
  const fleet = stack.use(
    await Fleet.start({ services: null, catalogDir: wholeCatalog, dataDir, environment: { LOG_LEVEL: "trace" } }),
  );
  const operator = fleet.operator();
  const { workspace } = await operator.customer({ credit: "1" });
  const form = (secret: string) => ({ datadog_site: `${secret}.example`, api_key: secret, application_key: secret });
  const ask = async (method: string, path: string, body?: unknown): Promise<Response> => {
    const response = await operator.send(`/api/console${path}`, { method, body });
    traces.add("answers", await response.clone().text());
    return response;
  };
  const made = await ask("POST", "/connections", { workspace, connector: "datadog", credentials: form(first) });
  id = String(objectOf(await made.json())["id"]);
  const lines = { ...form(wrong), api_key: `${wrong}\n${wrong}` };
  expect((await ask("POST", "/connections", { workspace, connector: "datadog", credentials: lines })).status).toBe(400);
  expect((await ask("PUT", `/connections/${id}/credentials`, { credentials: form(second) })).status).toBe(200);
  // Its site is not the vendor's, so that no call is made.
  expect(await (await ask("POST", `/connections/${id}/test`, {})).json()).toMatchObject({ outcome: "unusable" });
  await ask("GET", `/connections?workspace=${workspace}`);
  await ask("GET", `/audit?workspace=${workspace}`);
  await traces.addFolder("while it runs", dataDir);
  const [gateway] = fleet.gateways;
  await addSaid(traces, fleet);
  gateway?.process.signal("SIGTERM");
  expect(await gateway?.process.exited).toBe(0);
  traces.add("output", gateway?.process.output ?? "");
  await traces.addFolder("afterwards", dataDir);
  const folder = join(dataDir, "postgres");
  const database = stack.use(await openEmbeddedPostgres({ folder, clock: systemClock, log: silentLog }));
  await traces.addTables("table", database.sql);
}, 90_000);
afterAll(() => stack.disposeAsync(), 30_000);

test("the search finds the connection in tables, answers and the audit, and reads logs, metrics and the database's files", () => {
  expect(traces.whereIs(id)).toEqual(expect.arrayContaining(["table.connections", "table.audit_events", "answers"]));
  for (const kind of ["table.connection_fields", "output", "metrics"]) expect(traces.names).toContain(kind);
  expect(traces.names.some((name) => /pg_wal/.test(name))).toBe(true);
});

test.each([
  ["stored", second],
  ["replaced", first],
  ["refused", wrong],
])("credentials that were %s appear nowhere", (_what, secret) => {
  expect(traces.whereIs(secret)).toEqual([]);
});
