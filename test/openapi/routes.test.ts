/** The description has the paths and methods of the app, and no others. */
import { describe, expect, test } from "bun:test";
import { makeApp, type AppParts } from "../../src/server/app.ts";
import { OperatorGate } from "../../src/control-api/operator-gate.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { openApiDocument } from "../../src/openapi/document.ts";
import { jsonOf } from "../support/described.ts";

const slug = "acme";
const token = "operator-token-of-a-test-of-32-characters";

/** Nothing else is asked for before an endpoint is found. */
function partsToFindAnEndpoint(): AppParts {
  const shared = { clock: systemClock, log: silentLog };
  const control = { ...shared, operator: new OperatorGate(new Secret(token), systemClock) };
  return {
    gateway: { ...shared, keyPrefix: "acme-api-" },
    control,
    tools: { ...shared, slug, attachments: null },
    connectors: shared,
    health: {},
  } as AppParts;
}

const app = makeApp(partsToFindAnEndpoint());
const described = Object.entries(openApiDocument({ slug }).paths);
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** What answers that there is nothing. */
const catchAlls = ["/api/console/", "/api/console/*", "/api/tools", "/api/tools/*"];

test("its paths are those of the app's routes", () => {
  const routes = app.routes.map(({ path }) => path).filter((path) => !catchAlls.includes(path));
  const paths = routes.map((path) => path.replace("/models/*", "/models/:id").replaceAll(/:(\w+)/g, "{$1}"));
  expect(described.map(([path]) => path).toSorted()).toEqual([...new Set(paths)].toSorted());
});

describe("every method that it does not name is refused", () => {
  const others = described.flatMap(([path, operations]) => {
    const named = Object.keys(operations).map((method) => method.toUpperCase());
    return methods.filter((method) => !named.includes(method)).map((method) => ({ method, path, named }));
  });

  test.each(others)("$method $path", async ({ method, path, named }) => {
    const url = `http://localhost${path.replaceAll(/\{\w+\}/g, "any")}`;
    const response = await app.handle(new Request(url, { method, headers: { authorization: `Bearer ${token}` } }));
    if (path === "/api/tools-attachments") {
      // Served by one process on a loopback address alone.
      expect(response.status).toBe(404);
    } else if (/^\/(gpt|api|mcp|connectors)/.test(path)) {
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")?.split(", ").toSorted()).toEqual(named.toSorted());
    } else {
      expect([response.status, await response.json()]).toEqual([404, { detail: "Not Found" }]);
    }
  });
});

test("it is served as JSON at /openapi.json", async () => {
  const response = await app.handle(new Request("http://localhost/openapi.json"));
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(jsonOf(await response.json())).toEqual(JSON.parse(JSON.stringify(openApiDocument({ slug }))));
});
