/**
 * The whole service in one process: embedded backing, front and workers. A failed start closes what it has opened. Workers get their parts
 * directly and share this process's memory and event loop.
 */
import { join } from "node:path";
import { startAdmission } from "../../workers/admission.ts";
import { startAcceptedRisks, startFormerSboms, startScanner } from "../../workers/scanner.ts";
import { startMailer } from "../../workers/mailer.ts";
import { startMetering } from "../../workers/metering.ts";
import { startProber } from "../../workers/prober.ts";
import { startDeliveries, webhookFetch } from "../accounts/alerts/deliveries.ts";
import { startTopUps } from "../../workers/top-ups.ts";
import { earlyAccessFeatures } from "../accounts/workspaces/workspaces.ts";
import { notifying, type Database } from "../backing/backing.ts";
import { EmbeddedBus } from "../backing/embedded/bus.ts";
import { EmbeddedCounters } from "../backing/embedded/counters.ts";
import { openEmbeddedPostgres } from "../backing/embedded/postgres.ts";
import { migrate } from "../backing/migrate.ts";
import { answerRollCalls } from "../backing/fleet-state.ts";
import type { Config } from "../config.ts";
import { CatalogCache } from "../connectors/catalog/catalog-cache.ts";
import { startReadings } from "../connectors/connections/people.ts";
import { createSafeFetch } from "../http/safe-fetch.ts";
import { lockAccount } from "../accounts/members/store.ts";
import { createSignInLink } from "../accounts/sessions/links.ts";
import { firstOwner, firstStart } from "../control-api/first-start.ts";
import { openFront } from "./front.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import { takeLock } from "../process/lock.ts";
import { openModels } from "../gateway/models/models.ts";
import { readOperatorToken, readSecretsKeys } from "../process/own-secrets.ts";
import { embeddingCalls } from "../gateway/providers/embed.ts";
import { providerCalls } from "../gateway/providers/http.ts";
import { launchCheckClocks } from "../gateway/providers/launch-check.ts";
import { Keyring } from "../accounts/secrets/keyring.ts";
import type { Service } from "./service.ts";
import { welcome } from "./welcome.ts";

/** @throws LockedError, EmbeddedDatabaseError, MigrationError, after closing everything */
export async function openEmbedded({ config, log, clock }: { config: Config; log: Logger; clock: Clock }): Promise<Service> {
  await using stack = new AsyncDisposableStack();
  const { dataDir, environmentKey, clocks, slug, sandbox } = config;
  stack.use(await takeLock(dataDir));
  const operatorToken = readOperatorToken(config.operatorToken, dataDir);
  const keyring = new Keyring(readSecretsKeys(config.secretsKeys, dataDir));
  const database = stack.use(await openEmbeddedPostgres({ folder: join(dataDir, "postgres"), clock, log }));
  await migrate(database.sql);
  const bus = stack.use(new EmbeddedBus({ sql: database.sql, clock, log }));
  const sql = notifying(database.sql, (topic) => bus.broadcast(topic));
  const counters = new EmbeddedCounters(clock);
  const models = stack.use(
    await openModels({ folder: config.catalogDir, sandbox, sql, bus, clock, log, environmentKey, keyring }),
  );
  const connectors = new CatalogCache({ sql, folder: config.catalogDir, clock, log });
  await connectors.publish();
  const backing = { sql, reads: sql, bus };
  const first = await firstStart({ sql, clock, slug, earlyAccess: earlyAccessFeatures });
  stack.use(await startAdmission({ backing, counters, models, clock, log }));
  const noLock = async (): Promise<AsyncDisposable> => new AsyncDisposableStack();
  stack.use(await startMetering({ backing, counters, lock: noLock, clock, log, isAlone: true }));
  const settled = { clock, clocks: launchCheckClocks(clocks), providerKey: models.serviceKey };
  const calls = { call: providerCalls(settled), embed: embeddingCalls(settled) };
  stack.use(
    await startTopUps({ backing, counters, stripe: config.stripe, publicUrl: config.publicUrl, lock: noLock, clock, log }),
  );
  stack.use(startProber({ sql, bus, models, ...calls, lock: noLock, clock, log }));
  stack.use(startMailer({ sql, bus, mail: config.mail, lock: noLock, clock, log }));
  stack.use(startScanner({ sql, bus, clock, log }));
  stack.use(startDeliveries({ sql, bus, keyring, callWebhook: webhookFetch({ clock, isLocal: config.isLocal }), clock, log }));
  stack.use(startReadings({ sql, keyring, callVendors: createSafeFetch({ clock }), clock, log }));
  stack.use(answerRollCalls("service", { bus, clock, log }));
  stack.use(startFormerSboms({ sql, clock, log, sbomsKept: config.sbomsKept }));
  stack.use(startAcceptedRisks({ sql, clock, log }));
  const front = await openFront({
    config,
    backing,
    models,
    connectors,
    operatorToken,
    keyring,
    promptSql: sql,
    folder: dataDir,
    clock,
    log,
  });
  const opened = stack.move();
  return {
    ...front,
    async welcome() {
      const signInUrl = config.console ? await ownerLink(config, { sql, clock }) : null;
      welcome(config, { first, signInUrl, problems: await front.problems() });
    },
    close: () => opened.disposeAsync(),
  };
}

/** A link for the owner that the first start made, who is the operator here too; null if that account is gone or not active. */
async function ownerLink({ publicUrl }: Config, sources: { sql: Database; clock: Clock }): Promise<string | null> {
  return sources.sql.begin(async (tx) => {
    if ((await lockAccount(firstOwner, tx)) !== "active") return null;
    const { path } = await createSignInLink({ email: firstOwner, purpose: "start" }, { ...sources, sql: tx });
    return publicUrl + path;
  });
}
