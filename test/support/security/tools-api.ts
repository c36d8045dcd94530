/** The tools API over a database, without a network: what a client with a tools key sees. */
import { pino } from "pino";
import type { DiskSpaceGuard } from "../../../src/accounts/quotas/disk-space-guard.ts";
import { Keyring } from "../../../src/accounts/secrets/keyring.ts";
import type { Database } from "../../../src/backing/backing.ts";
import { systemClock, type Clock } from "../../../src/kernel/clock.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { CallLimits } from "../../../src/security/api/call-limits.ts";
import { toolsRoutes } from "../../../src/security/api/routes.ts";
import type { AttachmentFolder } from "../../../src/security/tickets/attachment-folder.ts";
import { objectOf, Control } from "../control.ts";
import { Notified } from "../notified.ts";
import type { TestDatabase } from "../servers/databases.ts";
import { Platforms } from "./platforms.ts";
import { roomyDisk, testSbomReader } from "./sbom-reader.ts";

interface Sent {
  method?: string;
  /** null: none. */
  key?: string | null;
  headers?: Record<string, string>;
}

interface Settings {
  clock: Clock;
  sendsMail?: boolean;
  attachments?: AttachmentFolder | null;
  /** Opens what connections hold. */
  keyring?: Keyring;
  platforms?: Platforms;
  /** The limit of a key without one of its own; tests make more calls than people. */
  callsPerMinute?: number;
  disk?: Pick<DiskSpaceGuard, "require">;
}

interface ToolsAnswer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

function ownKeyring(): Keyring {
  return new Keyring([new Secret(Buffer.alloc(32, 7).toString("base64"))]);
}

export class ToolsApi {
  readonly logged: string[] = [];
  readonly notified = new Notified();
  readonly #app: ReturnType<typeof toolsRoutes>;
  readonly #key: string;

  constructor(
    sql: Database,
    key: string,
    {
      clock,
      sendsMail = true,
      attachments = null,
      keyring = ownKeyring(),
      platforms = new Platforms(),
      callsPerMinute = 1_000_000,
      disk = roomyDisk,
    }: Settings,
  ) {
    this.#key = key;
    this.#app = toolsRoutes({
      sql,
      clock,
      log: pino({}, { write: (line: string) => void this.logged.push(line) }),
      slug: "platform",
      sendsMail,
      notify: this.notified.notify,
      attachments,
      keyring,
      ...platforms,
      sboms: testSbomReader(systemClock, disk),
      limits: new CallLimits({ clock, perMinuteDefault: callsPerMinute }),
      mcpOrigins: [],
      disk,
    });
  }

  /** @param body sent as it is where it is a text or bytes; null: none */
  async send(path: string, body: unknown, { method = "POST", key = this.#key, headers = {} }: Sent = {}): Promise<ToolsAnswer> {
    const sent = new Headers({ "content-type": "application/json", ...headers });
    if (key !== null) sent.set("authorization", `Bearer ${key}`);
    for (const [name, value] of Object.entries(headers)) if (value === "") sent.delete(name);
    const content = body === null ? null : typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
    const request = new Request(`http://localhost${path}`, { method, headers: sent, body: content as string | null });
    const response = await this.#app.handle(request);
    return { status: response.status, headers: response.headers, body: objectOf(await response.json()) };
  }

  /** A call whose body declares a length and may never come. */
  async start(operation: string, { body, declared }: { body: ReadableStream; declared: number }): Promise<ToolsAnswer> {
    const headers = {
      authorization: `Bearer ${this.#key}`,
      "content-type": "application/json",
      "content-length": String(declared),
    };
    const url = `http://localhost/api/tools/platform_${operation}`;
    const response = await this.#app.handle(new Request(url, { method: "POST", headers, body }));
    return { status: response.status, headers: response.headers, body: objectOf(await response.json()) };
  }

  call(operation: string, body: unknown = {}, sent: Sent = {}): Promise<ToolsAnswer> {
    return this.send(`/api/tools/platform_${operation}`, body, sent);
  }

  /** `data` of a call that is expected to succeed. */
  async data(operation: string, body: unknown = {}, sent: Sent = {}): Promise<Record<string, unknown>> {
    const answer = await this.call(operation, body, sent);
    if (answer.status !== 200)
      throw new Error(`${operation} answered ${answer.status}: ${JSON.stringify(answer.body)} ${this.logged.join("")}`);
    return objectOf(answer.body["data"]);
  }

  /** The envelope of a call over MCP. */
  async tool(operation: string, given: object): Promise<Record<string, unknown>> {
    const params = { name: `platform_${operation}`, arguments: given };
    const headers = {
      authorization: `Bearer ${this.#key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const response = await this.#app.handle(new Request("http://localhost/mcp", { method: "POST", headers, body }));
    const text = await response.text();
    const [, data = text] = /^data: (.*)$/m.exec(text) ?? [];
    return objectOf(objectOf(objectOf(JSON.parse(data))["result"])["structuredContent"]);
  }

  /** The sentence of a call that is expected to be refused with 400. */
  async refusal(operation: string, body: unknown, sent: Sent = {}): Promise<string> {
    const { status, body: answered } = await this.call(operation, body, sent);
    if (status !== 400 || answered["success"] !== false)
      throw new Error(`${operation} answered ${status}: ${JSON.stringify(answered)}`);
    return String(answered["error"]);
  }
}

/** A database with a workspace of each role, and the tools API over it with a key of `member@<workspace>`. */

export interface ToolsStage extends AsyncDisposable {
  database: TestDatabase;
  control: Control;
  api: ToolsApi;
  /** Id of the workspace "w". */
  workspace: string;
  /** A further tools key. @param owner of a member of the workspace */
  key(owner?: string): Promise<string>;
}

export async function toolsStage(
  open: () => Promise<TestDatabase>,
  settings: { sendsMail?: boolean; attachments?: AttachmentFolder } = {},
): Promise<ToolsStage> {
  const database = await open();
  const control = new Control(database.sql);
  const workspace = await control.workspace("w");
  const key = async (owner = "member@w") => (await control.key("w", { kind: "tools", owner })).key;
  const { clock, keyring, platforms } = control;
  const api = new ToolsApi(database.sql, await key(), { clock, keyring, platforms, ...settings });
  return { database, control, api, workspace, key, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
}
