/**
 * Every route that takes a body, with slow bodies of one workspace (or of one network, where the sender is not known yet) up to its bound
 * and beyond: a call of another workspace to the same route is answered meanwhile. The routes come from the OpenAPI document and the table
 * of pages, so a new one is tried without a word here.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { strangerGivesWayMs } from "../../src/accounts/limits.ts";
import { formToken } from "../../src/accounts/sessions/browser.ts";
import { readConfig } from "../../src/config.ts";
import { pages } from "../../src/console/pages.ts";
import { webhookPath } from "../../src/gateway/top-ups/webhook.ts";
import { refusedBodyMsMax } from "../../src/http/limits.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { sessionCallsPerPersonMax } from "../../src/control-api/limits.ts";
import { formBodiesPerPersonMax, signInsAtOnceMax } from "../../src/console/limits.ts";
import { bodiesPerWorkspaceBytesMax } from "../../src/gateway/limits.ts";
import { webhookBodiesMax } from "../../src/gateway/top-ups/limits.ts";
import { toolsBodiesPerWorkspaceBytesMax } from "../../src/security/limits.ts";
import { openApiDocument } from "../../src/openapi/document.ts";
import { openEmbedded } from "../../src/server/embedded.ts";
import type { Service } from "../../src/server/service.ts";
import { ManualClock, settled } from "../support/clock.ts";
import { modelsAlone } from "../support/providers/catalogs.ts";
import { copyEmbeddedDatabase } from "../support/servers/prepared-databases.ts";
import { delivery, webhookSecret } from "../support/stripe/stripe-stub.ts";
import { temporaryFolder, type TemporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const slug = "platform";
const token = "operator-token-of-a-test-of-32-characters";
const mebibyte = 1024 * 1024;
/** More people than have places at any door. */
const people = 5;
/** In virtual time. */
const waitMsMax = 500;
const tickMs = 20;

interface Route {
  method: string;
  path: string;
  /** Who calls it. */
  by: "key" | "tools key" | "session" | "browser" | "stranger" | "Stripe";
  /** What a slow body says that it will be. */
  declared: number;
}

/**
 * How many bodies each of them sends: more than one person has places there, and together more than their workspace or their network has.
 */
const bodiesEach: Record<Route["by"], number> = {
  key: beyond(bodiesPerWorkspaceBytesMax / (8 * mebibyte)),
  "tools key": beyond(toolsBodiesPerWorkspaceBytesMax / mebibyte),
  session: sessionCallsPerPersonMax + 1,
  browser: formBodiesPerPersonMax + 1,
  stranger: beyond(signInsAtOnceMax),
  Stripe: beyond(webhookBodiesMax),
};

function beyond(places: number): number {
  return Math.floor(places / people) + 1;
}

const described: Route[] = Object.entries(openApiDocument({ slug }).paths).flatMap(([path, operations]) =>
  Object.entries(operations)
    .filter(([, operation]) => operation.requestBody !== undefined)
    .map(([method]) => ({ method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, "x"), ...callerOf(path) })),
);
const forms: Route[] = pages
  .filter(({ actions, of, roles }) => actions !== undefined && (of === "person" || roles.includes("super_admin")))
  .map(({ of, path }) => {
    const below = of === "workspace" ? `/console/w/WORKSPACE${path}` : `/console${path}`;
    return { method: "POST", path: below.replaceAll(/[:*]\w+/g, "x").replace(/\/$/, ""), by: "browser", declared: 1_000 };
  });
const strangers: Route[] = ["/console/sign-in", "/console/reset"].map((path) => ({
  method: "POST",
  path,
  by: "stranger",
  declared: 1_000,
}));
const stripe: Route = { method: "POST", path: webhookPath, by: "Stripe", declared: 1_000 };

function callerOf(path: string): Pick<Route, "by" | "declared"> {
  if (path.startsWith("/gpt/")) return { by: "key", declared: 8 * mebibyte };
  if (path.startsWith("/api/console/")) return { by: "session", declared: 1_000 };
  return { by: "tools key", declared: /sbom|mcp|attachments/.test(path) ? 48 * mebibyte : mebibyte };
}

interface Person {
  workspace: string;
  session: string;
  key: string;
  toolsKey: string;
}

let folder: TemporaryFolder;
let service: Service;
const clock = new ManualClock();
let slow: Person[];
let honest: Person;

beforeAll(async () => {
  folder = await temporaryFolder();
  await copyEmbeddedDatabase(join(folder.path, "postgres"));
  const environment = {
    DATA_DIR: folder.path,
    CATALOG_DIR: await modelsAlone(),
    OPERATOR_TOKEN: token,
    CONSOLE: "on",
    STRIPE_SECRET_KEY: "sk_test_of_the_tests",
    STRIPE_WEBHOOK_SECRET: webhookSecret,
    // No server listens there: no event of this file asks Stripe.
    STRIPE_API_URL: "http://127.0.0.1:9",
  };
  service = await openEmbedded({ config: readConfig(environment), log: silentLog, clock });
  for (const name of ["slow", "honest"]) {
    await create("/workspaces", { name });
    await create(`/workspaces/${name}`, { early_access: ["embeddings", "completions"] }, "PATCH");
  }
  // A key's answer asks the counters, which a workspace's first question has to wait for.
  const ticking = setInterval(() => clock.advance(tickMs), tickMs);
  slow = await Promise.all(Array.from({ length: people }, (_, index) => person("slow", `p${index}@slow.test`)));
  honest = await person("honest", "p@honest.test");
  clearInterval(ticking);
});
afterAll(async () => {
  await service.close();
  await folder[Symbol.asyncDispose]();
});

const handle = (request: Request): Promise<Response> => Promise.resolve(service.app.handle(request));

async function create(path: string, body: object, method = "POST"): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${token}` };
  const request = new Request(`http://localhost/api/console${path}`, { method, headers, body: JSON.stringify(body) });
  const response = await handle(request);
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}

async function person(workspace: string, email: string): Promise<Person> {
  await create("/members", { workspace, email, role: "super_admin" });
  const { key } = await create("/keys", { workspace, owner: email, name: "inference" });
  const { key: toolsKey } = await create("/keys", { workspace, owner: email, name: "tools", kind: "tools" });
  const { url } = await create("/session-links", { email });
  const headers = { host: "localhost", "sec-fetch-site": "same-origin" };
  const signedIn = await handle(new Request(`http://localhost${new URL(String(url)).pathname}`, { method: "POST", headers }));
  const [, session = ""] = /^(?:__Host-)?weir=([\w-]{43});/.exec(signedIn.headers.get("set-cookie") ?? "") ?? [];
  return { workspace, session, key: String(key), toolsKey: String(toolsKey) };
}

function headersOf({ by, declared }: Route, caller: Person): Record<string, string> {
  const browser = { host: "localhost", "sec-fetch-site": "same-origin" };
  const ofSession = { ...browser, cookie: `weir=${caller.session}` };
  const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const form = { "content-type": "application/x-www-form-urlencoded" };
  if (by === "session") return { ...ofSession, ...json };
  if (by === "browser") return { ...ofSession, ...form };
  if (by === "stranger") return { ...browser, ...form };
  if (by === "Stripe") return { "stripe-signature": `t=${Math.floor(clock.now() / 1_000)},v1=${"0".repeat(64)}` };
  const file = declared > mebibyte && by === "tools key" ? { "x-attachment-name": "report.pdf" } : {};
  return { ...json, ...file, host: "localhost", authorization: `Bearer ${by === "key" ? caller.key : caller.toolsKey}` };
}

function requestTo(route: Route, caller: Person, body: string | ReadableStream, headers = {}): Request {
  const query = route.by === "session" ? `?workspace=${caller.workspace}` : "";
  const url = `http://localhost${route.path.replace("WORKSPACE", caller.workspace)}${query}`;
  return new Request(url, { method: route.method, headers: { ...headersOf(route, caller), ...headers }, body });
}

/** Bodies that say how long they are, and send nothing. */
class SlowBodies implements AsyncDisposable {
  readonly #streams: ReadableStreamDefaultController[] = [];
  readonly #answers: Promise<unknown>[] = [];
  /** How many of them the service reads. */
  reading = 0;

  send(route: Route, caller: Person): void {
    const body = new ReadableStream(
      {
        start: (controller) => void this.#streams.push(controller),
        pull: () => {
          this.reading++;
          return new Promise(() => {});
        },
      },
      { highWaterMark: 0 },
    );
    const request = requestTo(route, caller, body, { "content-length": String(route.declared) });
    this.#answers.push(handle(request).catch(() => null));
  }

  /** Their clients leave. */
  async [Symbol.asyncDispose](): Promise<void> {
    const left = new Set(this.#answers);
    for (const answer of this.#answers) void answer.then(() => left.delete(answer));
    for (const stream of this.#streams) {
      try {
        stream.error(new Error("The client has left"));
      } catch {
        // The service has ended it.
      }
    }
    // Refused ones are drained for a while.
    const drains = { ms: 2 * refusedBodyMsMax, stepMs: 1_000 };
    await passWhile(() => left.size > 0, drains);
    await until(() => passWhile(() => left.size > 0, drains).then(() => left.size === 0));
    // The keys may call as often again.
    clock.advance(60_000);
  }
}

/** Moves the clock on in steps, for as long as the condition holds, by `ms` at most. */
async function passWhile(holds: () => boolean, { ms, stepMs }: { ms: number; stepMs: number }): Promise<void> {
  for (let passed = 0; holds() && passed < ms; passed += stepMs) {
    clock.advance(stepMs);
    await settled();
  }
}

function honestRequest(route: Route): Request {
  if (route.by === "browser")
    return requestTo(route, honest, new URLSearchParams({ form_token: formToken(honest.session) }).toString());
  if (route.by === "stranger") return requestTo(route, honest, "email=nobody%40honest.test&password=x");
  if (route.by !== "Stripe") return requestTo(route, honest, "{}");
  const event = { id: "evt_1", type: "invoice.paid", livemode: false, data: { object: { id: "in_1" } } };
  return delivery(event, { atMs: clock.now() });
}

describe("slow bodies of one workspace keep nobody else from", () => {
  test.each([...described, ...forms, ...strangers, stripe].map((route) => [`${route.method} ${route.path}`, route] as const))(
    "%s",
    async (_, route) => {
      await using bodies = new SlowBodies();
      for (const caller of slow) for (let index = 0; index < bodiesEach[route.by]; index++) bodies.send(route, caller);
      await until(() => bodies.reading > 0);
      await settled();
      let answer: Response | null = null;
      void handle(honestRequest(route)).then((response) => (answer = response));
      // The slow bodies fall behind while it waits, where they have places that it needs. Bodies with keys have none.
      const ms = route.by.endsWith("key") ? 0 : waitMsMax;
      await passWhile(() => answer === null, { ms, stepMs: strangerGivesWayMs });
      await until(() => answer !== null);
      const { status } = answer as unknown as Response;
      // The clock has gone on: some actions want a newer sign-in.
      const isHeard =
        status === 401 && (route.by === "stranger" || (await (answer as unknown as Response).text()).includes("sign_in_again"));
      expect(status).toBeGreaterThanOrEqual(200);
      expect([401, 408, 429, 500, 503]).not.toContain(isHeard ? 200 : status);
    },
  );
});

test("bodies of requests are read at these doors alone", () => {
  const root = join(import.meta.dir, "../../src");
  const readers = /\bbodyPieces\(|\bnew BodyReader\(|\brequest\.(?:json|text|formData|arrayBuffer|blob|bytes)\(/;
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
  const found = files.filter((path) => readers.test(readFileSync(join(root, path), "utf8")));
  expect(found.toSorted()).toEqual([
    "accounts/quotas/body-door.ts",
    // With keys: their bytes are counted by key and workspace.
    "gateway/api/request/body.ts",
    // With what is refused.
    "http/body.ts",
    "security/api/read-input.ts",
  ]);
});
