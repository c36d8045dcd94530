/**
 * The front: the parts of a process that answers HTTP, the same in both modes. It opens the gateway, the control API, the tools API, the
 * catalog and the Console, connects them within one process, and runs the checks of /ready. A part that cannot work yet does not prevent
 * the others from starting.
 */
import { join, resolve } from "node:path";
import { webhookFetch } from "../accounts/alerts/deliveries.ts";
import { mailManagers } from "../accounts/mails/mail-managers.ts";
import { OidcProvider } from "../accounts/oidc/oidc-provider.ts";
import { DiskSpaceGuard, freeBytesOf } from "../accounts/quotas/disk-space-guard.ts";
import type { Keyring } from "../accounts/secrets/keyring.ts";
import { Passwords } from "../accounts/sessions/passwords.ts";
import { type Backing, type Database, ping } from "../backing/backing.ts";
import type { Notification } from "../backing/bus.ts";
import { fleetRoles, fleetState } from "../backing/fleet-state.ts";
import type { Config } from "../config.ts";
import type { CatalogCache } from "../connectors/catalog/catalog-cache.ts";
import { createProbeFetch } from "../connectors/connections/probe.ts";
import { SessionAuthenticator, OperatorAuthenticator, ToolsKeyAuthenticator } from "../control-api/authenticate.ts";
import { fileDoor } from "../control-api/session-doors.ts";
import { AdmissionClient } from "../gateway/admission/client.ts";
import { DrainLimit } from "../gateway/api/answer/drains.ts";
import { UnpaidWork } from "../gateway/api/call/charged-usage.ts";
import type { Gateway } from "../gateway/api/gateway.ts";
import { tokenCountLimits } from "../gateway/api/count-tokens.ts";
import { InFlightRequests } from "../gateway/api/in-flight-requests.ts";
import { UncountedPrompts } from "../gateway/api/uncounted-prompts.ts";
import { bodyBudget } from "../gateway/api/request/body.ts";
import { runInWorkbench, type WorkbenchRun } from "../gateway/api/routes.ts";
import { keyGeneration } from "../gateway/generations/generations.ts";
import { GenerationJournal } from "../gateway/journal/journal.ts";
import type { Models } from "../gateway/models/models.ts";
import { RouteCoolDown, RouteHealth, RouteSpeeds } from "../gateway/models/route-health.ts";
import { KeptAnswers } from "../gateway/prompts/kept-answers.ts";
import { PromptQueue } from "../gateway/prompts/prompt-queue.ts";
import { RefusedCalls } from "../gateway/refusals/refused-calls.ts";
import { providerCalls } from "../gateway/providers/http.ts";
import { launchCheckClocks } from "../gateway/providers/launch-check.ts";
import type { RefundParts } from "../gateway/top-ups/change-top-up.ts";
import type { WebhookParts } from "../gateway/top-ups/webhook.ts";
import { keyUsage } from "../gateway/usage/usage.ts";
import { createSafeFetch } from "../http/safe-fetch.ts";
import { withDeadline, type Clock } from "../kernel/clock.ts";
import { keyPrefix } from "../kernel/ids.ts";
import type { Logger } from "../kernel/log.ts";
import { observe } from "../kernel/metrics.ts";
import { usdAsJsonNumber } from "../kernel/money.ts";
import type { Secret } from "../kernel/secret.ts";
import { serviceState, runChecks, watchHealth, type Check, type Health } from "../process/health.ts";
import { SyncRunner } from "../security/advisories/sync-run.ts";
import { sharedCallLimits } from "../security/api/call-limits.ts";
import type { ToolsParts } from "../security/api/run-operation.ts";
import { ExportTurns } from "../security/findings/vex/export-vex.ts";
import { SbomReader } from "../security/sboms/reader.ts";
import { AttachmentFolder } from "../security/tickets/attachment-folder.ts";
import { makeApp } from "./app.ts";
import { readyDeadlineMs, shutdownFlushMs } from "./limits.ts";
import { callsWithOwnKeys, keyReports } from "./own-keys.ts";
import { ownAddress } from "./weir-command.ts";

interface FrontParts {
  config: Config;
  backing: Backing;
  models: Models;
  connectors: CatalogCache;
  operatorToken: Secret;
  keyring: Keyring;
  /** A connection for storing prompts only, if there is more than one. */
  promptSql: Database;
  /** Used by this process alone; the caller has locked it. */
  folder: string;
  clock: Clock;
  log: Logger;
}

export interface Front {
  app: ReturnType<typeof makeApp>;
  gateway: Gateway;
  /** What keeps the process from being ready, with causes; empty: it is ready. */
  problems(): Promise<string[]>;
  /** Makes /ready fail, so that balancers use other gateways. Resolves when the current requests have ended, or after `waitMs`. */
  announceShutdown(waitMs: number): Promise<void>;
  /** Waits `waitMs` for requests, aborts the rest, and settles all charges. @returns whether the ledger has all of them */
  finish(waitMs: number): Promise<boolean>;
}

export async function openFront(parts: FrontParts): Promise<Front> {
  const { config, backing, models, operatorToken, folder, clock, log } = parts;
  const journal = new GenerationJournal({ bus: backing.bus, clock, log, folder: join(folder, "spool") });
  const admission = openAdmission(parts, journal);
  const inFlight = new InFlightRequests();
  const operator = new OperatorAuthenticator(operatorToken, clock);
  const routeHealth = new RouteHealth({ sql: backing.sql, clock, log });
  const stored = storedLater(parts);
  const gateway: Gateway = {
    admission,
    journal,
    ...stored,
    models,
    health: routeHealth,
    speeds: new RouteSpeeds(),
    coolDown: new RouteCoolDown(clock),
    ...callsWithOwnKeys(parts),
    ...keyReports({ backing, clock, log }),
    usage: keyUsage({ sql: backing.reads, clock }),
    generation: keyGeneration({ sql: backing.sql, clock }),
    inFlight,
    bodies: bodyBudget(),
    uncountedPrompts: new UncountedPrompts(clock),
    tokenCounts: tokenCountLimits(clock),
    drainLimit: new DrainLimit(),
    unpaid: new UnpaidWork(clock),
    clock,
    clocks: config.clocks,
    log,
    keyPrefix: keyPrefix(config.slug),
  };
  let serving = true;
  const isOperator = operator.isOperator.bind(operator);
  const health: Health = { checks: checks(parts, gateway), serving: () => serving, clock, isOperator };
  observeGateway(gateway, health.checks);
  const { advisorySync, ...planes } = await planeParts(parts, gateway, { operator, health });
  const app = makeApp({ gateway, health, ...planes });
  return {
    app,
    gateway,
    problems: () => problemsOf(health.checks),
    announceShutdown(waitMs) {
      serving = false;
      advisorySync[Symbol.dispose]();
      return inFlight.presentRequestsEnded(clock, waitMs);
    },
    async finish(waitMs) {
      await inFlight.drain(clock, waitMs, shutdownFlushMs);
      await Promise.all(Object.values(stored).map((queue) => queue.flushed(shutdownFlushMs)));
      const flushed = await journal.flushed(shutdownFlushMs);
      await admission.blocks.returned(shutdownFlushMs);
      journal[Symbol.dispose]();
      await routeHealth[Symbol.asyncDispose]();
      return flushed;
    },
  };
}

/** What is written in the background. */
function storedLater({ backing, promptSql: sql, keyring, clock, log }: FrontParts) {
  const parts = { sql, keyring, clock, log };
  const refused = new RefusedCalls({ sql: backing.sql, clock, log });
  return { prompts: new PromptQueue(parts), keptAnswers: new KeptAnswers(parts), refused };
}

/** Opens admission, which settles what an earlier owner of the folder left. */
function openAdmission({ backing, models, clock, log }: FrontParts, journal: GenerationJournal): AdmissionClient {
  const admission = new AdmissionClient({ bus: backing.bus, clock, log, journal, models });
  const { pendingAdmissions, blocks, admitted, ...owed } = journal.recover();
  if (owed.settled + owed.interrupted + owed.unknown > 0) log.info({ event: "spool.recovered", ...owed });
  admission.takeOver({ pendingAdmissions, blocks, admitted });
  return admission;
}

function checks({ backing, models, clock }: FrontParts, gateway: Gateway): Record<string, Check> {
  return {
    database: async () => {
      await withDeadline(clock, readyDeadlineMs, "The database's answer", ping(backing.sql));
      return null;
    },
    bus: async () => (backing.bus.connected() ? null : "not connected"),
    admission: () => withDeadline(clock, readyDeadlineMs, "Admission's answer", gateway.admission.problem()),
    catalog: async () => (models.readable() ? null : (models.problem() ?? "not read yet")),
    spool: async () =>
      gateway.journal.accepting() ? null : "nothing more can be owed: the disk is full or too much waits for the ledger",
  };
}

function observeGateway({ inFlight, drainLimit, journal, admission }: Gateway, parts: Record<string, Check>): void {
  observe("weir_generations_open", () => inFlight.size);
  observe("weir_streams_read_on", () => drainLimit.active);
  observe("weir_generations_unsettled", () => journal.unsettled);
  observe("weir_reserved_usd", () => usdAsJsonNumber(journal.reserved));
  observe("weir_admissions_unknown", () => admission.releases.size);
  observe("weir_blocks_lent", () => admission.blocks.size);
  observe("weir_dependency_up", async () => {
    const states = Object.entries(await runChecks(parts));
    return Object.fromEntries(states.map(([part, state]) => [part, state === "ok" ? 1 : 0]));
  });
}

/** The parts of the other APIs. */
async function planeParts(
  parts: FrontParts,
  gateway: Gateway,
  { operator, health }: { operator: OperatorAuthenticator; health: Health },
) {
  const { config, connectors: catalogCache, clock, log } = parts;
  const disk = new DiskSpaceGuard(clock, freeBytesOf(parts.folder));
  const sboms = new SbomReader({ clock, folder: join(parts.folder, "documents"), disk });
  const callHosts = createSafeFetch({ clock, configured: configuredHosts(config) });
  const { sql } = parts.backing;
  const tools = { ...toolsParts(parts), sboms, callHosts, disk };
  const byToken = [new ToolsKeyAuthenticator({ sql, clock, slug: config.slug, calls: tools.limits }), operator];
  const authenticators = config.console ? [...byToken, new SessionAuthenticator({ sql, clock })] : byToken;
  const topUps = await openTopUps({ ...parts, admission: gateway.admission });
  const roles = config.backends.mode === "embedded" ? ["service"] : fleetRoles;
  const state = fleetState({ backing: parts.backing, clock, health: watchHealth(health), roles });
  const advisorySync = new SyncRunner({
    sql,
    clock,
    log,
    url: ownAddress(config),
    operatorToken: parts.operatorToken,
    source: config.advisories.url,
    daily: config.advisories.isNamed,
    outbound: config.outbound,
    folder: resolve(parts.folder, "advisories"),
    disk,
  });
  const control = { ...controlParts(parts, gateway), advisorySync, fleetState: state, authenticators, sboms, callHosts, topUps };
  const console = { control, operator, passwords: new Passwords(clock) };
  return {
    control,
    console: config.console ? console : null,
    tools,
    connectors: { catalogCache, clock, log },
    publicOrigin: config.publicOrigin,
    topUps,
    advisorySync,
  };
}

/** Origins that the operator configured may have any address; the platforms' own origins only public ones. */
function configuredHosts({ hostUrls }: Config): (origin: string) => boolean {
  const open = new Set(["https://api.github.com", "https://gitlab.com"]);
  const own = Object.values(hostUrls).map((url) => new URL(url).origin);
  return (origin) => own.includes(origin) && !open.has(origin);
}

/** The operator wrote the catalog's addresses, so they may be private. */
function catalogHosts({ catalog }: Pick<Models, "catalog">): (origin: string) => boolean {
  return (origin) =>
    [...(catalog()?.providers.values() ?? [])].some(({ baseUrl, regions = [] }) =>
      [baseUrl, ...regions.map((region) => region.baseUrl)].some((url) => new URL(url).origin === origin),
    );
}

/**
 * The gateway's part of card top-up: pages of Stripe for people, and the webhook. Workers charge saved cards. @returns null: the
 * operator has set no key of Stripe
 */
async function openTopUps({
  config: { stripe, publicUrl, trustedProxies: proxies },
  backing: { sql, bus },
  admission,
  clock,
  log,
}: {
  config: Config;
  backing: Backing;
  admission: Pick<Gateway["admission"], "position" | "held" | "refresh">;
  clock: Clock;
  log: Logger;
}): Promise<(WebhookParts & RefundParts) | null> {
  if (stripe === null) return null;
  const { stripeClient } = await import("../gateway/top-ups/stripe-client.ts");
  return {
    sql,
    clock,
    log,
    publicUrl,
    stripe: stripeClient(stripe),
    secrets: stripe.webhookSecrets,
    proxies,
    reserved: async (workspace) => (await admission.position(workspace, null))?.reserved ?? null,
    held: (workspace) => admission.held(workspace),
    refresh: (workspace) => admission.refresh(workspace),
    mailManagers: (mail, tx) => mailManagers(mail, tx, { bus, clock }),
  };
}

function controlParts(parts: FrontParts, gateway: Gateway) {
  const { config, backing, models, connectors, keyring, clock, log } = parts;
  return {
    sql: backing.sql,
    reads: backing.reads,
    clock,
    log,
    slug: config.slug,
    publicUrl: config.publicUrl,
    proxies: config.trustedProxies,
    oidc: config.oidc === null ? null : new OidcProvider({ config: config.oidc, publicUrl: config.publicUrl, clock }),
    keyring,
    files: fileDoor(clock),
    hostUrls: config.hostUrls,
    connectors,
    probeFetch: createProbeFetch({ clock }),
    callVendors: createSafeFetch({ clock }),
    aws: config.aws,
    callWebhook: webhookFetch({ clock, isLocal: config.isLocal }),
    isLocal: config.isLocal,
    sendsMail: config.mail !== null,
    vexExports: new ExportTurns(clock),
    models,
    measure: gateway.health.measure.bind(gateway.health),
    fetchProviders: createSafeFetch({ clock, configured: catalogHosts(models) }),
    callWith: (key: Secret) => providerCalls({ clock, clocks: launchCheckClocks(config.clocks), providerKey: () => key }),
    runInWorkbench: (run: WorkbenchRun) => runInWorkbench(run, gateway),
    position: gateway.admission.position.bind(gateway.admission),
    reservedByKey: gateway.admission.reservedByKey.bind(gateway.admission),
    refresh: gateway.admission.refresh.bind(gateway.admission),
    serviceState: serviceState(checks(parts, gateway), clock),
    notify: (topic: Notification) => backing.bus.broadcast(topic),
  };
}

function toolsParts({ config, backing, keyring, clock, log }: FrontParts): Omit<ToolsParts, "sboms" | "callHosts" | "disk"> {
  const own = config.backends.mode === "embedded" && /^(localhost$|127\.|::1$)/.test(config.host);
  return {
    sql: backing.sql,
    clock,
    log,
    slug: config.slug,
    sendsMail: config.mail !== null,
    notify: (topic) => backing.bus.broadcast(topic),
    keyring,
    hostUrls: config.hostUrls,
    mcpOrigins: config.mcpOrigins,
    limits: sharedCallLimits(backing.bus, clock),
    attachments: own ? new AttachmentFolder(join(config.dataDir, "attachments")) : null,
  };
}

async function problemsOf(parts: Record<string, Check>): Promise<string[]> {
  const states = Object.entries(await runChecks(parts));
  return states.flatMap(([part, state]) => (state === "ok" ? [] : `${part}: ${state}`));
}
