/** The front door without a browser: who gets it, and what it says; test/browser/console covers what a reader does with it. */
import { describe, expect, test } from "bun:test";
import { notFound } from "../../src/gateway/api/routes.ts";
import type { Model, UnavailableReason } from "../../src/gateway/models/model.ts";
import { publicReadiness, watchHealth, type Health } from "../../src/process/health.ts";
import {
  callableModels,
  prefersHtml,
  frontDoorRoutes,
  type FrontDoorParts,
  modelSentences,
  unknownPage,
} from "../../src/server/pages/front-door.ts";
import { ManualClock } from "../support/clock.ts";

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";

/** Models with these reasons, null for one that can be called; each has a provider with a key of its own. */
function modelsFor(reasons: (UnavailableReason | null)[]): FrontDoorParts["models"] {
  const providers = reasons.map((_, index) => ({ keyEnv: `KEY_${index}` }));
  const models = providers.map((provider, index) => ({ id: String(index), routes: [{ provider }] }) as unknown as Model);
  return {
    readable: () => true,
    catalog: () => ({ providers: new Map(providers.entries()) }) as never,
    list: () => models,
    availability: (model) => ({ reason: reasons[Number(model.id)] }) as never,
  };
}

interface Options {
  health?: Partial<Health>;
  reasons?: (UnavailableReason | null)[];
  consoleOn?: boolean;
  publicOrigin?: string | null;
}

function door({ health = {}, reasons = [null], consoleOn = false, publicOrigin = null }: Options = {}) {
  const clock = new ManualClock();
  const whole: Health = { checks: {}, serving: () => true, isOperator: () => false, clock, ...health };
  const current = watchHealth(whole);
  const routes = frontDoorRoutes({
    version: "1.0",
    slug: "acme",
    consoleOn,
    publicOrigin,
    readiness: async () => publicReadiness(await current()),
    models: modelsFor(reasons),
    connectors: () => 672,
    clock,
  });
  const ask = (path: string, { method = "GET", ...headers }: Record<string, string> = {}) =>
    routes.handle(new Request(`http://weir${path}`, { method, headers }));
  return {
    clock,
    ask,
    text: async (headers: Record<string, string> = {}) => (await ask("/", { accept: browser, ...headers })).text(),
  };
}

test.each([
  ["a browser", browser, true],
  ["only HTML", "text/html", true],
  ["HTML before JSON", "text/html;q=0.9, application/json;q=0.5", true],
  ["nothing", null, false],
  ["a wildcard", "*/*", false],
  ["JSON", "application/json, text/plain, */*", false],
  ["JSON before HTML", "application/json, text/html", false],
  ["HTML refused", "text/html;q=0", false],
  ["a weight that is none", "text/html;q=many", false],
])("the front door is shown to a client that asks for %s: %p, %p", (_, accept, shown) => {
  expect(prefersHtml(accept)).toBe(shown);
});

test("every other client and method gets at / what an unknown path gives", async () => {
  const { ask } = door();
  const unknown = async (asked: Record<string, string>) => {
    const response = await ask("/", asked);
    const headers = [...response.headers].filter(([name]) => name !== "content-length");
    return [response.status, Object.fromEntries(headers), await response.text()];
  };
  const given = notFound();
  const [status, headers, body] = [given.status, Object.fromEntries(given.headers), await given.text()];
  for (const asked of [
    {},
    { accept: "application/json" },
    { method: "POST", accept: browser },
    { method: "OPTIONS", accept: browser },
  ]) {
    expect([asked, ...(await unknown(asked))]).toEqual([asked, status, headers, body]);
  }
  expect(await unknown({ method: "HEAD" })).toEqual([status, headers, ""]);
});

test("HEAD of a browser gets the page's headers", async () => {
  const response = await door().ask("/", { method: "HEAD", accept: browser });
  expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
    200,
    "text/html; charset=utf-8",
    "",
  ]);
});

test("the front door is never stored, sends its form only to this service and names its script by its hash", async () => {
  const { headers } = await door().ask("/", { accept: browser });
  expect([headers.get("cache-control"), headers.get("vary")]).toEqual(["no-store", "accept"]);
  const policy = headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("form-action 'self'");
  expect(policy).not.toContain("unsafe");
});

describe("the state", () => {
  test("problems are named in words, and never by their cause", async () => {
    const cause = "connect ECONNREFUSED 10.0.0.7:4222";
    const checks = { database: () => Promise.reject(new Error(cause)), bus: async () => cause, catalog: async () => null };
    const text = await door({ health: { checks } }).text();
    expect(text).toContain("Weir is not ready");
    expect(text).toContain("The database does not answer; the message bus is not connected.");
    expect(text).toContain("Model catalog works");
    expect(text).not.toContain("10.0.0.7");
  });

  test("a stopping service says so", async () => {
    expect(await door({ health: { serving: () => false } }).text()).toContain("The service is stopping.");
  });

  test("the checks run at most once a second, however many ask", async () => {
    let runs = 0;
    const { text, clock } = door({ health: { checks: { database: async () => (runs++, null) } } });
    await Promise.all([text(), text()]);
    await text();
    expect(runs).toBe(1);
    clock.advance(1_000);
    await text();
    expect(runs).toBe(2);
  });
});

describe("the models", () => {
  const words = (reasons: (UnavailableReason | null)[]): string =>
    String(modelSentences(callableModels(modelsFor(reasons))))
      .replaceAll(/<[^>]+>/g, "")
      .replaceAll("&#39;", "'");

  test("one reason for all others is one sentence, with the first provider's variable", () => {
    expect(words([null, "provider_not_configured", "provider_not_configured"])).toBe(
      "1 of 3 models can be called; the others need a provider's key, such as KEY_1.",
    );
  });

  test("several reasons have their numbers, the most frequent first", () => {
    expect(words(["no_price", "coming_soon", "coming_soon"])).toBe(
      "0 of 3 models can be called. Of the others, 2 are coming soon; 1 has no price yet.",
    );
    expect(words([null])).toBe("1 of 1 models can be called.");
  });

  test("without a catalog no number is shown", () => {
    expect(String(modelSentences(callableModels({ ...modelsFor([]), readable: () => false })))).toContain("cannot be read");
  });
});

describe("the address to copy", () => {
  test("it is the one under which the browser came", async () => {
    const { text } = door();
    expect(await text({ host: "weir.example.com:8443" })).toContain("http://weir.example.com:8443/gpt/v1<");
    expect(await text({ host: "[::1]:8080" })).toContain("http://[::1]:8080/gpt/v1<");
    expect(await text({ host: "weir.example.com", "x-forwarded-proto": "https" })).toContain("https://weir.example.com/mcp<");
  });

  test("it is PUBLIC_URL where that is set", async () => {
    const { text } = door({ publicOrigin: "https://weir.example.com" });
    expect(await text({ host: "10.0.0.7:8080" })).toContain("https://weir.example.com/gpt/v1<");
  });

  test.each([
    `"><script>alert(1)</script>`,
    "evil.example/path",
    "user@evil.example",
    "evil.example:99999999",
    "a b",
    "",
    `${"a".repeat(300)}.example`,
  ])("a Host that is none is not shown: %p", async (host) => {
    const text = await door().text({ host });
    expect(text).toContain(">/gpt/v1<");
    if (host !== "") expect(text).not.toContain(host);
  });
});

test("the page leads to the Console only while it is on", async () => {
  expect(await door({ consoleOn: true }).text()).toContain('href="/console"');
  expect(await door().text()).not.toContain("/console");
});

describe("an unknown path", () => {
  const ask = (path: string, accept: string, method = "GET") =>
    unknownPage(new Request(`http://localhost${path}`, { method, headers: { accept } }), { consoleOn: true });

  test("is a page that leads to the start, for a person", async () => {
    const page = ask("/no/<b>such", "text/html,*/*;q=0.8");
    const text = (await page?.text()) ?? "";
    expect([page?.status, page?.headers.get("cache-control")]).toEqual([404, "no-store"]);
    for (const words of ["There is no such page", 'href="/"', 'href="/console"']) expect(text).toContain(words);
    expect(text).not.toContain("such<");
    expect(text).not.toContain("<b>such");
  });

  test.each([
    ["/nothing", "*/*", "GET"],
    ["/nothing", "application/json, text/html;q=0.9", "GET"],
    ["/nothing", "text/html", "POST"],
    ["/gpt/v1/nothing", "text/html", "GET"],
    ["/api/console/nothing", "text/html", "GET"],
  ])("%s with %p and %s is a program's", (path, accept, method) => {
    expect(ask(path, accept, method)).toBeNull();
  });
});

test("browsers find the icon where they look for it", async () => {
  const response = await door().ask("/favicon.ico");
  expect([response.headers.get("content-type"), response.headers.get("cache-control")]).toEqual([
    "image/svg+xml",
    "public, max-age=86400",
  ]);
  expect(await response.text()).toStartWith("<svg");
});
