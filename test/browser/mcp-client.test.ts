/** A client of MCP in a page of another origin, as the Inspector connects directly. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { Fleet } from "../support/servers/fleet.ts";
import { chromiumPath, service, Visit } from "./browser.ts";

describe.skipIf(chromiumPath === null)("a client of MCP in a browser", () => {
  let fleet: Fleet;
  let key = "";
  beforeAll(async () => {
    fleet = await service();
    key = await fleet.operator().agentKey();
  }, 60_000);

  /** What a page of a server on this address reads of its call. */
  async function callFrom(hostname: string, authorization: string) {
    using page = Bun.serve({ port: 0, hostname, fetch: () => new Response("<!doctype html><title>Client</title>", html) });
    await using visit = await Visit.to({ url: `http://${hostname}:${page.port}` });
    const opened = await visit.open("/");
    const headers = {
      authorization,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-06-18",
    };
    const call = { method: "POST", headers, body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' };
    return await opened.evaluate(
      `fetch(${JSON.stringify(`${fleet.url()}/mcp`)}, ${JSON.stringify(call)})
        .then(async (answer) => ({ status: answer.status, text: await answer.text(), id: answer.headers.get("x-request-id") }))
        .catch((error) => ({ status: null, text: String(error), id: null }))`,
    );
  }

  test("a page of this machine lists the tools, and reads why its key is refused", async () => {
    expect(await callFrom("127.0.0.1", `Bearer ${key}`)).toMatchObject({
      status: 200,
      text: expect.stringContaining("platform_list_findings"),
    });
    expect(await callFrom("127.0.0.1", "Bearer wrong")).toMatchObject({
      status: 401,
      text: expect.stringContaining("Unauthorized"),
      id: expect.stringMatching(/./),
    });
  });

  test("a page of another address is refused by the service, and the browser shows it nothing", async () => {
    expect(await callFrom("127.0.0.2", `Bearer ${key}`)).toEqual({ status: null, text: "TypeError: Failed to fetch", id: null });
  });
});

const html = { headers: { "content-type": "text/html" } };
