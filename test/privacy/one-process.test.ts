/** Searches for secrets in everything that one process leaves behind or sends elsewhere: tables, files, logs, metrics, telemetry. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { openEmbeddedPostgres } from "../../src/backing/embedded/postgres.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { Fleet } from "../support/servers/fleet.ts";
import {
  addSaid,
  customer,
  expectNoEcho,
  expectNoTrace,
  expectStored,
  failCheck,
  providerKeyCanary,
  type Customer,
} from "../support/privacy/privacy.ts";
import { expectKeptSealed, spreadKeptAnswers, type KeptTraffic } from "../support/privacy/kept-traffic.ts";
import { expectNoOwnKey, spreadOwnKeys, type OwnKeyTraffic } from "../support/privacy/own-key-traffic.ts";
import { OtlpCollector } from "../support/telemetry/otlp-collector.ts";
import { embeddingModel, embeddings } from "../support/providers/embedding-answers.ts";
import { startProviderStub } from "../support/providers/provider-stub.ts";
import { stubKeyEnv, writeStubCatalog } from "../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { Traces } from "../support/privacy/traces.ts";

const stack = new AsyncDisposableStack();
const traces = new Traces();
let off: Customer;
let on: Customer;
let ownKeys: OwnKeyTraffic;
let kept: KeptTraffic;

beforeAll(async () => {
  const stub = stack.use(await startProviderStub(embeddings()));
  const { path: catalog } = stack.use(await temporaryFolder());
  const { path: dataDir } = stack.use(await temporaryFolder());
  const catalogDir = await writeStubCatalog(catalog, { url: stub.url, others: [embeddingModel()] });
  const collector = stack.use(await OtlpCollector.start());
  const telemetry = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
  const environment = { [stubKeyEnv]: providerKeyCanary, LOG_LEVEL: "trace", ...telemetry };
  const fleet = stack.use(await Fleet.start({ services: null, catalogDir, dataDir, environment }));
  await fleet.runnable(["stub/model", "stub/embed"]);
  [off, on] = [await customer(fleet, stub, false), await customer(fleet, stub, true)];
  for (const one of [off, on]) await expectStored(fleet, one);
  ownKeys = await spreadOwnKeys(fleet, stub);
  kept = await spreadKeptAnswers(fleet);
  await failCheck(fleet, stub, on);
  await traces.addFolder("while it runs", dataDir);
  const [gateway] = fleet.gateways;
  await addSaid(traces, fleet);
  gateway?.process.signal("SIGTERM");
  expect(await gateway?.process.exited).toBe(0);
  traces.add("output", gateway?.process.output ?? "");
  traces.add("telemetry", collector.bodies.join("\n"));
  await traces.addFolder("afterwards", dataDir);
  const database = stack.use(
    await openEmbeddedPostgres({ folder: join(dataDir, "postgres"), clock: systemClock, log: silentLog }),
  );
  await traces.addTables("table", database.sql);
}, 120_000);
afterAll(() => stack.disposeAsync(), 30_000);

test("the search covers tables, the spool, the database's files, logs and metrics, and finds what is stored on purpose", () => {
  expect(traces.whereIs(`findable-${off.workspace}`)).toContain("table.api_keys");
  expect(traces.whereIs(on.sent.answered[0]?.generation ?? "none")).toContain("table.stored_prompts");
  expect(traces.whereIs(on.sent.answered[0]?.generation ?? "none")).toContain("telemetry");
  expect(traces.whereIs("There is no model with the id …")).toContain("table.refused_requests");
  for (const kind of ["table.generations", "table.audit_events", "output", "metrics"]) expect(traces.names).toContain(kind);
  expect(traces.names.some((name) => /spool/.test(name))).toBe(true);
  expect(traces.names.some((name) => /pg_wal/.test(name))).toBe(true);
});

test("without prompt storage no table, log, file or metric contains a prompt or answer, and none ever contains a key or a provider's error", () => {
  expectNoTrace(traces, off);
  expect(traces.whereIs(off.workspace)).not.toContain("table.data_keys");
  expect(traces.whereIs(on.workspace)).toContain("table.data_keys");
});

test("with prompt storage a prompt and its answer are stored only sealed, and only `prompt show` opens them", () => {
  expectNoTrace(traces, on);
});

test("own provider keys are stored and sent only sealed: no table, message, spool, log, metric, error or answer has one", () => {
  expectNoOwnKey(traces, ownKeys);
});

test("answers that are kept for repeated requests are stored only sealed, and none with zero data retention", () => {
  expectKeptSealed(traces, kept);
});

test("no answer to a client contains a provider's text or a wrong key", () => {
  for (const one of [off, on]) expectNoEcho(one);
});
