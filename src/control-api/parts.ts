/**
 * What the control API needs of its process. Each part is named after what it does for the API, and is as narrow as its use, so that tests
 * can replace it. The roles that serve the API create the parts.
 */
import type { Database } from "../backing/backing.ts";
import type { Notification } from "../backing/bus.ts";
import type { FleetView } from "../backing/fleet-state.ts";
import type { AwsAccount } from "../process/environment/services.ts";
import type { ServiceView } from "../process/health.ts";
import type { SafeFetch } from "../http/safe-fetch.ts";
import type { ProbeFetch } from "../connectors/connections/probe.ts";
import type { CatalogCache } from "../connectors/catalog/catalog-cache.ts";
import type { TrustedProxies } from "../kernel/proxies.ts";
import type { Clock, Month } from "../kernel/clock.ts";
import type { KeyId, WorkspaceId } from "../kernel/ids.ts";
import type { Logger } from "../kernel/log.ts";
import type { NanoUsd } from "../kernel/money.ts";
import type { Secret } from "../kernel/secret.ts";
import type { WorkbenchRun } from "../gateway/api/routes.ts";
import type { CallProvider } from "../gateway/providers/http.ts";
import type { RefundParts } from "../gateway/top-ups/change-top-up.ts";
import type { RouteMeasure } from "../gateway/models/listing.ts";
import type { Route } from "../gateway/models/model.ts";
import type { Models } from "../gateway/models/models.ts";
import type { SyncRunner } from "../security/advisories/sync-run.ts";
import type { ExportTurns } from "../security/findings/vex/export-vex.ts";
import type { SbomReader } from "../security/sboms/reader.ts";
import type { Keyring } from "../accounts/secrets/keyring.ts";
import type { OidcProvider } from "../accounts/oidc/oidc-provider.ts";
import type { Authenticator } from "../accounts/members/principal.ts";
import type { Door } from "./session-doors.ts";

/** Credit in the counters, and the spend of a key. */
export interface CreditPosition {
  balance: NanoUsd;
  reserved: NanoUsd;
  available: NanoUsd;
  keySpent: NanoUsd | null;
  month: Month;
}

/** The parts that the control API uses. */
export interface ControlParts {
  sql: Database;
  /** The replica, for lists and sums, which may be two seconds old. */
  reads: Database;
  clock: Clock;
  log: Logger;
  /** The service's name, the beginning of keys. */
  slug: string;
  /** Where people reach the service, as links in mails name it; without a slash at its end. */
  publicUrl: string;
  /** Signs people in to the Console; null: none is configured. */
  oidc: OidcProvider | null;
  /** Tells a client's address from those of the operator's proxies. */
  proxies: TrustedProxies;
  /** The door of files that sessions send. */
  files: Door;
  /** The credentials that open the API. */
  authenticators: readonly Authenticator[];
  keyring: Keyring;
  /** The connector catalog that was published last. */
  connectors: Pick<CatalogCache, "published" | "grantNotes" | "setGrants">;
  /** Calls vendors for tests of connections. */
  probeFetch: ProbeFetch;
  /** Calls vendors for readings of people: public hosts only. */
  callVendors: SafeFetch;
  /** This service's account at AWS, which roles of customers trust; null: none is set. */
  aws: AwsAccount | null;
  /** Calls alert webhooks for their tests: public hosts, and this machine if `isLocal`. */
  callWebhook: SafeFetch;
  /** Whether only this machine reaches the service, so that webhooks may be on it. */
  isLocal: boolean;
  /** Whether mails are sent; otherwise they wait. */
  sendsMail: boolean;
  /** Calls repository platforms. */
  callHosts: SafeFetch;
  /** Addresses of the platforms' APIs. */
  hostUrls: { github: string; gitlab: string };
  /** Imports published advisories. */
  advisorySync: Pick<SyncRunner, "start" | "last" | "daily">;
  /** Reads uploaded documents. */
  sboms: SbomReader;
  /** Lets exports of VEX documents and evidence take turns. */
  vexExports: ExportTurns;
  models: Pick<
    Models,
    "catalog" | "list" | "availability" | "checkable" | "pendingChecks" | "checkOf" | "serviceKey" | "refreshChecks"
  >;
  /** A route's figures from real traffic; null: not measured. */
  measure(route: Route): RouteMeasure | null;
  /** Calls providers with this key when own keys are tested. */
  callWith(key: Secret): CallProvider;
  /** Asks providers for their lists of models. Addresses of the catalog may be private. */
  fetchProviders: SafeFetch;
  /** Answers a member's request of the Workbench as the inference API answers a key's. */
  runInWorkbench(run: WorkbenchRun): Promise<Response>;
  /** null: the counters cannot answer. */
  position(workspace: WorkspaceId, key: KeyId | null): Promise<CreditPosition | null>;
  /** What the open requests of each key reserve; keys without one are absent. null: not known at present. */
  reservedByKey(workspace: WorkspaceId): Promise<ReadonlyMap<KeyId, NanoUsd> | null>;
  /** Makes the counters read the ledger again after credit was added. */
  refresh(workspace: WorkspaceId): Promise<void>;
  /** Sells credit by card; null: the operator has set no Stripe key. */
  topUps: RefundParts | null;
  /** The state of this process. */
  serviceState(): Promise<ServiceView>;
  /** The state of all processes and of what they share. */
  fleetState(): Promise<FleetView>;
  /** Notifies every process, after the commit. */
  notify(topic: Notification): void;
}
