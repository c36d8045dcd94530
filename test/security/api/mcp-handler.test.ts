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
