/** One process for prober, mailer and scanner: `bun workers/main.ts background`. */
import { expect, test } from "bun:test";
import { callRoll } from "../../src/backing/fleet-state.ts";
import { openPostgres } from "../../src/backing/postgres/postgres.ts";
import { DistributedBus } from "../../src/backing/nats/bus.ts";
import { insertMail } from "../../src/accounts/mails/store.ts";
import { systemClock as clock } from "../../src/kernel/clock.ts";
import { silentLog as log } from "../../src/kernel/log.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { ManualClock } from "../support/clock.ts";
import { Control } from "../support/control.ts";
import { OurProcess } from "../support/processes/process.ts";
import { startProviderStub } from "../support/providers/provider-stub.ts";
import { stubKeyEnv, writeStubCatalog } from "../support/providers/stub-catalog.ts";
import { lodash, SecurityWorld } from "../support/security/security-world.ts";
import { TestMailServer } from "../support/servers/mail-server.ts";
import { createMigratedDatabase } from "../support/servers/prepared-databases.ts";
import { testServices } from "../support/servers/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const services = await testServices();

test.skipIf(services === null)(
  "one process scans a project, sends a mail and checks a model, answers a roll call, and stops with exit code 0",
  async () => {
    const urls = services?.urls ?? { DATABASE_URL: "", NATS_URL: "", REDIS_URL: "" };
    await using made = await createMigratedDatabase(urls.DATABASE_URL);
    await using database = openPostgres({ url: new Secret(made.url), applicationName: "weir tests", clock });
    const { sql } = database;
    const world = new SecurityWorld({
      sql,
      clock: new ManualClock(Date.now() - 1_000),
      workspace: await new Control(sql).workspace("w"),
    });
    await world.publish(lodash("OSV-1"));
    const project = await world.project("shop");
    await world.upload(project, ["pkg:npm/lodash@4.17.20"]);
    const mail = { ticket: null, recipient: "admin@w", subject: "Hello", body: "It waits." };
    await sql.begin((tx) => insertMail({ ...mail, at: new Date(clock.now()) }, tx));
    await using mails = await TestMailServer.start();
    await using provider = await startProviderStub();
    await using folder = await temporaryFolder();
    await using background = new OurProcess({
      arguments: ["workers/main.ts", "background"],
      environment: {
        ...urls,
        DATABASE_URL: made.url,
        DATA_DIR: folder.path,
        CATALOG_DIR: await writeStubCatalog(folder.path, { url: provider.url }),
        [stubKeyEnv]: "sk-stub",
        SMTP_URL: mails.url,
        MAIL_FROM: "weir@example.test",
      },
    });
    await background.says('"started"');
    const checks = () => sql`SELECT FROM launch_checks WHERE model_id = 'stub/model' AND passed`;
    await until(async () => (await world.scanState(project))["scan_status"] === "completed");
    await until(async () => mails.taken.length === 1 && (await checks()).length === 1);
    await using bus = new DistributedBus({ url: new Secret(urls.NATS_URL), replicas: 1, name: "tests", clock, log });
    await until(async () =>
      (await callRoll({ bus, clock })).some(({ pid, role }) => pid === background.pid && role === "background"),
    );
    background.signal("SIGTERM");
    expect(await background.exited).toBe(0);
  },
  60_000,
);
