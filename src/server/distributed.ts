/**
 * A front of a fleet. NATS, Redis and PostgreSQL may start later; until then it answers 503. Each front migrates the schema and creates the
 * first workspace, unless another one has done so.
 */
import { startDeliveries, webhookFetch } from "../accounts/alerts/deliveries.ts";
import { openBacking, openOwnDatabase } from "../backing/open-backing.ts";
import { migrate, MigrationError, isWithoutSchema } from "../backing/migrate.ts";
import { answerRollCalls } from "../backing/fleet-state.ts";
import type { Config } from "../config.ts";
import { CatalogCache } from "../connectors/catalog/catalog-cache.ts";
import { startReadings } from "../connectors/connections/people.ts";
import { createSafeFetch } from "../http/safe-fetch.ts";
import { firstStart, type FirstStart } from "../control-api/first-start.ts";
import { openFront } from "./front.ts";
import { adoptOrphanedSpoolsUntilStopped } from "../gateway/journal/orphaned-spools.ts";
import { sleep, type Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import { prepareRetryMs } from "../connectors/limits.ts";
import { LockedError, takeLock, takeNumberedFolder } from "../process/lock.ts";
import { openModels } from "../gateway/models/models.ts";
import { readOperatorToken } from "../process/own-secrets.ts";
import type { Database } from "../backing/backing.ts";
import { Keyring } from "../accounts/secrets/keyring.ts";
import type { Service } from "./service.ts";
import { welcomeFleet } from "./welcome.ts";

export async function openDistributed({ config, log, clock }: { config: Config; log: Logger; clock: Clock }): Promise<Service> {
  await using stack = new AsyncDisposableStack();
  const { dataDir, environmentKey, sandbox } = config;
  const operatorToken = readOperatorToken(config.operatorToken, dataDir);
  const { folder, lock } = await takeNumberedFolder(dataDir, "gateway");
  stack.use(lock);
  const backing = stack.use(await openBacking({ config, log, clock, role: "gateway" }));
  const stop = new AbortController();
  const preparing = prepareDatabase({ sql: backing.sql, slug: config.slug, clock, log }, stop.signal);
  preparing.catch(() => {});
  // Otherwise parts that read tables would warn that there are none. If the database cannot be reached, they start without it.
  if (await isWithoutSchema(backing.sql, clock)) await preparing;
  const keyring = new Keyring(config.secretsKeys ?? []);
  const models = stack.use(
    await openModels({ folder: config.catalogDir, sandbox, ...backing, clock, log, environmentKey, keyring }),
  );
  const { sql: promptSql } = stack.use(await openOwnDatabase({ config, clock, role: "prompts" }));
  const connectors = new CatalogCache({ sql: backing.sql, folder: config.catalogDir, clock, log });
  const front = await openFront({ config, backing, models, connectors, operatorToken, keyring, promptSql, folder, clock, log });
  stack.use(startDeliveries({ ...backing, keyring, callWebhook: webhookFetch({ clock, isLocal: config.isLocal }), clock, log }));
  stack.use(startReadings({ sql: backing.sql, keyring, callVendors: createSafeFetch({ clock }), clock, log }));
  stack.use(answerRollCalls("gateway", { ...backing, clock, log }));
  const publishing = preparing.then(
    () => connectors.publishWhenPossible(stop.signal),
    () => {},
  );
  const { admission } = front.gateway;
  const adopting = adoptOrphanedSpoolsUntilStopped(
    {
      bus: backing.bus,
      clock,
      log,
      dataDir,
      lockFolder: takeIfFree,
      takeOver: (left) => admission.takeOver(left),
      blocks: admission.blocks,
    },
    stop.signal,
  );
  const opened = stack.move();
  return {
    ...front,
    async welcome() {
      const first = await preparing;
      if (first !== null) welcomeFleet(config, { first, problems: await front.problems() });
    },
    async close() {
      stop.abort();
      await Promise.all([preparing, publishing, adopting]);
      await opened.disposeAsync();
    },
  };
}

/** Migrates the schema and creates the first workspace if there is none; tries until the database is available. */
export async function prepareDatabase(
  parts: { sql: Database; slug: string; clock: Clock; log: Logger },
  signal: AbortSignal,
): Promise<FirstStart | null> {
  while (!signal.aborted) {
    try {
      await migrate(parts.sql);
      return await firstStart(parts);
    } catch (error) {
      if (error instanceof MigrationError) throw error;
      parts.log.warn({ event: "database.unavailable", reason: String(error) }, "The database cannot be prepared yet");
      await sleep(parts.clock, prepareRetryMs, signal);
    }
  }
  return null;
}

async function takeIfFree(folder: string): Promise<AsyncDisposable | null> {
  try {
    return await takeLock(folder);
  } catch (error) {
    if (error instanceof LockedError) return null;
    throw error;
  }
}
