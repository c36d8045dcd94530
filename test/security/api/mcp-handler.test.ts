/** MCP over HTTP below the protocol: keys, origins, methods and sizes. */
import { beforeAll, describe, expect, test } from "bun:test";
import { toolsBodyBytesMax } from "../../../src/security/limits.ts";
import type { Fleet } from "../../support/servers/fleet.ts";
import { mcpFleet } from "./mcp-clients.ts";

let fleet: Fleet;
let key = "";
beforeAll(async () => {
  ({ fleet, key } = await mcpFleet());
}, 60_000);

describe("/mcp", () => {
  const post = (headers: Record<string, string>, body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}') =>
    fetch(`${fleet.url()}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      body,
    });

  test("/mcp refuses a page of another site", async () => {
    expect((await post({ authorization: key, origin: "https://evil.example" })).status).toBe(403);
    expect((await post({ authorization: key, origin: "http://127.0.0.1.evil.example" })).status).toBe(403);
    expect((await post({ authorization: key, origin: "null" })).status).toBe(403);
    expect((await post({ authorization: key, origin: "http://localhost:5173" })).status).toBe(200);
  });

  test("/mcp answers pages of this machine and of MCP_ORIGINS so that a browser lets them read it, refusals too", async () => {
    const readable = (response: Response) => [
      response.headers.get("access-control-allow-origin"),
      response.headers.get("access-control-allow-credentials"),
      response.headers.get("access-control-expose-headers")?.includes("Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate"),
      response.headers.get("vary")?.includes("Origin"),
    ];
    const origins = ["http://localhost:6274", "http://[::1]:1", "https://inspector.example.com", "vscode-webview://a1b2"];
    for (const origin of origins) {
      const answered = await post({ authorization: key, origin });
      expect([origin, answered.status, ...readable(answered)]).toEqual([origin, 200, origin, null, true, true]);
      const refused = await post({ authorization: "none", origin });
      expect([origin, refused.status, ...readable(refused)]).toEqual([origin, 401, origin, null, true, true]);
      const stream = await fetch(`${fleet.url()}/mcp`, { headers: { authorization: key, origin } });
      expect([origin, stream.status, ...readable(stream)]).toEqual([origin, 405, origin, null, true, true]);
    }
    const without = await post({ authorization: key });
    expect(readable(without)).toEqual([null, null, undefined, true]);
    const others = [
      "https://inspector.example.com.evil.example",
      "http://inspector.example.com",
      "http://localhost.evil.example",
    ];
    for (const origin of others) {
      const refused = await post({ authorization: key, origin });
      expect([origin, refused.status, ...readable(refused)]).toEqual([origin, 403, null, null, undefined, true]);
    }
  });

  test("a preflight of an allowed page needs no key, and allows the methods of the protocol and the headers that it asks for", async () => {
    const ask = (headers: Record<string, string>) => fetch(`${fleet.url()}/mcp`, { method: "OPTIONS", headers });
    const asked = "authorization,content-type,mcp-protocol-version,mcp-method";
    const page = { origin: "http://localhost:6274", "access-control-request-method": "POST" };
    const allowed = await ask({ ...page, "access-control-request-headers": asked });
    expect([allowed.status, await allowed.text()]).toEqual([204, ""]);
    expect(Object.fromEntries(allowed.headers)).toMatchObject({
      "access-control-allow-origin": page.origin,
      "access-control-allow-methods": "POST, GET, DELETE",
      "access-control-allow-headers": asked,
      "access-control-max-age": "600",
    });
    const unreadable = await ask({ ...page, "access-control-request-headers": "a b" });
    expect([unreadable.status, unreadable.headers.get("access-control-allow-headers")]).toEqual([204, null]);
    const foreign = await ask({ ...page, origin: "https://evil.example" });
    expect([foreign.status, foreign.headers.get("access-control-allow-origin")]).toEqual([403, null]);
    expect((await ask({})).status).toBe(405);
  });

  test("/mcp answers a client that takes any form, and tells one that takes a single form which two it needs", async () => {
    for (const accept of ["*/*", "text/html, */*;q=0.8"])
      expect([accept, (await post({ authorization: key, accept })).status]).toEqual([accept, 200]);
    for (const accept of ["application/json", "text/event-stream"]) {
      const refused = await post({ authorization: key, accept });
      expect([refused.status, await refused.text()]).toEqual([
        406,
        expect.stringContaining("must accept both application/json and text/event-stream"),
      ]);
    }
  });

  test("/mcp accepts only tools keys", async () => {
    for (const authorization of ["", `platform-mcp-${"0".repeat(64)}`]) {
      const response = await post({ authorization });
      expect([response.status, await response.json()]).toEqual([401, { success: false, error: "Unauthorized" }]);
    }
  });

  test("/mcp has no sessions, so it accepts only POST", async () => {
    for (const method of ["GET", "DELETE"]) {
      const response = await fetch(`${fleet.url()}/mcp`, { method, headers: { authorization: key } });
      expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
    }
  });

  test("/mcp accepts 1 MiB beside a document, because parsing a longer message would block the thread", async () => {
    const params = { name: "platform_submit_feedback", arguments: { message: "m".repeat(toolsBodyBytesMax) } };
    const response = await post({ authorization: key }, JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
    const error = `There is no document at "params.arguments.sbom" in the body: without one, send at most ${toolsBodyBytesMax} bytes`;
    expect([response.status, await response.json()]).toEqual([400, { success: false, error }]);
  });

  test("/mcp refuses a body that is no message, without an internal error", async () => {
    for (const body of ["", "{", "[]", "null", '"x"', "{}", '{"jsonrpc":"2.0","id":1,"method":"none"}', "[".repeat(100_000)]) {
      const response = await post({ authorization: key }, body);
      expect([body.slice(0, 50), response.status < 500]).toEqual([body.slice(0, 50), true]);
    }
  });
});

test("in a service as it runs the key of its tools also opens findings in the control API, and nothing else there", async () => {
  const headers = { authorization: `Bearer ${key}` };
  const statusOf = async (path: string) => (await fetch(`${fleet.url()}/api/console${path}`, { headers })).status;
  expect([await statusOf("/findings?workspace=agents"), await statusOf("/keys?workspace=agents")]).toEqual([200, 403]);
});
