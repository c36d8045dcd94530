/** The document has exactly the paths and methods of the app. */
import { describe, expect, test } from "bun:test";
import { makeApp, type AppParts } from "../../src/server/app.ts";
import { OperatorAuthenticator } from "../../src/control-api/authenticate.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { TrustedProxies } from "../../src/kernel/proxies.ts";
import { openApiDocument } from "../../src/openapi/document.ts";
import { jsonOf } from "../support/described.ts";

const slug = "acme";
const token = "operator-token-of-a-test-of-32-characters";

/** A request without any header or body: the service first looks for the endpoint. */
function partsToFindAnEndpoint(): AppParts {
  const shared = { clock: systemClock, log: silentLog };
  const authenticators = [new OperatorAuthenticator(new Secret(token), systemClock)];
  const control = { ...shared, proxies: new TrustedProxies([]), authenticators };
  return {
    gateway: { ...shared, keyPrefix: "acme-api-" },
    control,
    tools: { ...shared, slug, attachments: null },
    connectors: shared,
    health: {},
    publicOrigin: null,
    console: null,
    topUps: null,
  } as unknown as AppParts;
}

const app = makeApp(partsToFindAnEndpoint());
const described = Object.entries(openApiDocument({ slug }).paths);
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** The routes that answer 404. */
const catchAlls = ["/api/console/", "/api/console/*", "/api/tools", "/api/tools/*", "/gpt/v1/responses/*"];

test("the document's paths are those of the app's routes", () => {
  const routes = app.routes.map(({ path }) => path).filter((path) => !catchAlls.includes(path));
  const paths = routes.map((path) => path.replace("/models/*", "/models/:id").replaceAll(/:(\w+)/g, "{$1}"));
  expect(described.map(([path]) => path).toSorted()).toEqual([...new Set(paths)].toSorted());
});

describe("every method beyond the document is refused", () => {
  const others = described.flatMap(([path, operations]) => {
    const named = Object.keys(operations).map((method) => method.toUpperCase());
    return methods.filter((method) => !named.includes(method)).map((method) => ({ method, path, named }));
  });

  test.each(others)("$method $path", async ({ method, path, named }) => {
    const url = `http://localhost${path.replaceAll(/\{\w+\}/g, "any")}`;
    const response = await app.handle(new Request(url, { method, headers: { authorization: `Bearer ${token}` } }));
    if (path === "/api/tools-attachments") {
      // Only one process on a loopback address serves it.
      expect(response.status).toBe(404);
    } else if (/^\/(gpt|api|mcp|connectors)/.test(path)) {
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")?.split(", ").toSorted()).toEqual(named.toSorted());
    } else {
      expect([response.status, await response.json()]).toEqual([404, { detail: "Not Found" }]);
    }
  });
});

test("the document is served as JSON at /openapi.json", async () => {
  const response = await app.handle(new Request("http://localhost/openapi.json"));
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(jsonOf(await response.json())).toEqual(JSON.parse(JSON.stringify(openApiDocument({ slug }))));
});
