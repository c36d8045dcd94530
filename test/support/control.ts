/** The control API over a database, without a network: what a client with the operator token sees. */
import { pino } from "pino";
import { controlApi } from "../../src/control-api/api.ts";
import type { FleetView } from "../../src/backing/fleet-state.ts";
import type { ControlParts, CreditPosition } from "../../src/control-api/parts.ts";
import { CallRateLimiter } from "../../src/accounts/quotas/call-rate-limiter.ts";
import { notifying, type Database } from "../../src/backing/backing.ts";
import type { Authenticator } from "../../src/accounts/members/principal.ts";
import { OperatorAuthenticator, SessionAuthenticator, ToolsKeyAuthenticator } from "../../src/control-api/authenticate.ts";
import { fileDoor } from "../../src/control-api/session-doors.ts";
import { testSbomReader } from "./security/sbom-reader.ts";
import { TrustedProxies } from "../../src/kernel/proxies.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { SyncRunner } from "../../src/security/advisories/sync-run.ts";
import { Keyring } from "../../src/accounts/secrets/keyring.ts";
import { ManualClock } from "./clock.ts";
import { Notified } from "./notified.ts";
import { Platforms } from "./security/platforms.ts";
import { ExportTurns } from "../../src/security/findings/vex/export-vex.ts";

export const operatorToken = "operator-token-of-the-tests";

const noModels: ControlParts["models"] = {
  catalog: () => null,
  list: () => [],
  availability: () => ({ availability: "available", runnable: true, reason: null, routes: [] }),
  checkable: () => [],
  pendingChecks: () => [],
  checkOf: () => undefined,
  serviceKey: () => null,
  refreshChecks: async () => {},
};

export interface Answer {
  status: number;
  headers: Headers;
  body: unknown;
}

interface Sent {
  body?: unknown;
  /** The member on whose behalf the operator token acts. */
  as?: string;
  /** Sent in place of the operator token; null: none. */
  token?: string | null;
  headers?: Record<string, string>;
}

export class Control {
  readonly clock = new ManualClock();
  readonly notified = new Notified();
  /** Workspaces whose counters were notified to read the ledger. */
  readonly refreshed: string[] = [];
  /** What the API wrote to its log. */
  readonly logged: string[] = [];
  /** The state of the fleet. */
  fleet: FleetView = {
    ok: true,
    problems: [],
    version: "0",
    ready: true,
    processes: [{ role: "service", version: "0", host: "here", pid: 1, started_at: "2026-01-01T00:00:00Z" }],
    schema: { newest: "0035-last.sql", missing: [], unknown: [] },
    settlements_waiting: 0,
  };
  /** The counters' reply; null: none. */
  position: CreditPosition | null = null;
  /** What the gateways say that open requests reserve, by key; null: they cannot be asked. */
  reserved: ReadonlyMap<string, bigint> | null = new Map();
  /** The connector catalog for connections. */
  readonly connectors: { -readonly [Part in keyof ControlParts["connectors"]]: ControlParts["connectors"][Part] } = {
    published: null,
    grantNotes: [],
    setGrants: new Map(),
  };
  /** Calls vendors; a test that needs one sets it. */
  probeFetch: ControlParts["probeFetch"] = () => Promise.reject(new Error("No vendor is called in this test"));
  /** Calls vendors for people; a test that reads some sets it. */
  callVendors: ControlParts["callVendors"] = () => Promise.reject(new Error("No people are read in this test"));
  /** Calls webhooks of alerts; a test that needs one sets it. */
  callWebhook: ControlParts["callWebhook"] = () => Promise.reject(new Error("No webhook is called in this test"));
  /** The hosts that repositories are imported from. */
  readonly platforms = new Platforms();
  /** Serves the Workbench; a test that runs it sets it. */
  runInWorkbench: ControlParts["runInWorkbench"] = () => Promise.reject(new Error("No model is called in this test"));
  /** What bounds the calls of tools keys. */
  readonly keyCalls = { rates: new CallRateLimiter({ clock: this.clock }), loopThrottle: { admit: async () => {} } };
  readonly keyring: Keyring;
  /** What the API is made of, for a Console that runs with it. */
  readonly parts: ControlParts;
  readonly operator: OperatorAuthenticator;
  readonly #app: ReturnType<typeof controlApi>;

  /**
   * @param secrets the keys of SECRETS_KEY
   * @param others further accepted authenticators
   */
  constructor(
    database: Database,
    secrets: string[] = [Buffer.alloc(32, 7).toString("base64")],
    others: readonly Authenticator[] = [],
  ) {
    const sql = notifying(database, this.notified.notify);
    this.keyring = new Keyring(secrets.map((secret) => new Secret(secret)));
    this.operator = new OperatorAuthenticator(new Secret(operatorToken), this.clock);
    this.parts = {
      sql,
      reads: sql,
      clock: this.clock,
      log: pino({}, { write: (line: string) => void this.logged.push(line) }),
      slug: "platform",
      publicUrl: "https://weir.example.com",
      authenticators: [
        new ToolsKeyAuthenticator({ sql, clock: this.clock, slug: "platform", calls: this.keyCalls }),
        this.operator,
        new SessionAuthenticator({ sql, clock: this.clock }),
        ...others,
      ],
      keyring: this.keyring,
      proxies: new TrustedProxies([]),
      files: fileDoor(this.clock),
      oidc: null,
      connectors: this.connectors,
      probeFetch: (request) => this.probeFetch(request),
      aws: null,
      callVendors: (request) => this.callVendors(request),
      callWebhook: (request) => this.callWebhook(request),
      isLocal: false,
      sendsMail: true,
      ...this.platforms,
      // Nothing listens there: a test that synchronizes starts a service.
      advisorySync: new SyncRunner({
        sql,
        clock: this.clock,
        log: pino({ level: "silent" }),
        url: "http://127.0.0.1:9",
        operatorToken: new Secret(operatorToken),
        source: "http://127.0.0.1:9",
        outbound: {},
        daily: false,
        folder: "/nonexistent",
        disk: { require: async () => {} },
      }),
      sboms: testSbomReader(),
      vexExports: new ExportTurns(this.clock),
      models: noModels,
      measure: () => null,
      fetchProviders: () => Promise.reject(new Error("No provider is asked in this test")),
      callWith: () => () => Promise.reject(new Error("No provider is called in this test")),
      runInWorkbench: (run) => this.runInWorkbench(run),
      position: async () => this.position,
      reservedByKey: async () => this.reserved,
      refresh: async (workspace) => void this.refreshed.push(workspace),
      serviceState: async () => ({
        version: "0",
        started_at: "2026-01-01T00:00:00Z",
        dependencies: { database: "ok" },
        alarms: [],
      }),
      fleetState: async () => this.fleet,
      topUps: null,
      notify: this.notified.notify,
    };
    this.#app = controlApi(this.parts);
  }

  /** Serves it on a free local port. */
  listen(): { url: string; stop(): Promise<void> } {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => this.#app.handle(request) });
    return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
  }

  async call(method: string, path: string, { body, as, token = operatorToken, headers = {} }: Sent = {}): Promise<Answer> {
    const sent = new Headers(headers);
    if (token !== null) sent.set("authorization", `Bearer ${token}`);
    if (as !== undefined) sent.set("x-act-as", as);
    const isWritten = typeof body === "string" || body instanceof Uint8Array;
    const content = body === undefined ? null : isWritten ? body : JSON.stringify(body);
    const request = new Request(`http://localhost/api/console${path}`, { method, headers: sent, body: content as string | null });
    const response = await this.#app.handle(request);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: response.headers.get("content-type")?.includes("ndjson") ? text : JSON.parse(text),
    };
  }

  /** The body of an answer that must be a success. */
  async expect(method: string, path: string, sent: Sent = {}): Promise<Record<string, unknown>> {
    const { status, body } = await this.call(method, path, sent);
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(body)} ${this.logged.join("")}`);
    return objectOf(body);
  }

  /** The rows of a list that must be a success. */
  async list(path: string, sent: Sent = {}): Promise<Record<string, unknown>[]> {
    const { data } = await this.expect("GET", path, sent);
    if (!Array.isArray(data)) throw new Error(`GET ${path} answered no list`);
    return data.map(objectOf);
  }

  /** `status code field` of an answer that must be a refusal. */
  async refusal(method: string, path: string, sent: Sent = {}): Promise<string> {
    const { status, body } = await this.call(method, path, sent);
    const error = objectOf(objectOf(body)["error"]);
    return `${status} ${String(error["code"])} ${String(error["field"])}`;
  }

  /** A separate workspace with one member of each role: `<role>@<name>`. */
  async workspace(name: string, credit?: string): Promise<string> {
    const form = { name, ...(credit !== undefined && { credit_usd: credit }) };
    const { id } = await this.expect("POST", "/workspaces", { body: form });
    for (const role of ["member", "auditor", "admin", "super_admin"]) {
      await this.expect("POST", "/members", { body: { workspace: name, email: `${role}@${name}`, role } });
    }
    return String(id);
  }

  /** A key of `member@<workspace>`; the answer contains `key`. */
  async key(workspace: string, form: Record<string, unknown> = {}): Promise<{ id: string; key: string }> {
    const made = await this.expect("POST", "/keys", { body: { workspace, owner: `member@${workspace}`, ...form } });
    return { id: String(made["id"]), key: String(made["key"]) };
  }
}

export function objectOf(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`No object: ${JSON.stringify(value)}`);
  return Object.fromEntries(Object.entries(value));
}
