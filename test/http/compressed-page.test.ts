/** Pages are compressed only for a reader who asked for them from this service, so that their size tells no one else anything. */
import { gunzipSync } from "node:zlib";
import { expect, test } from "bun:test";
import { compressedPage } from "../../src/http/compressed-page.ts";

const text = "<p>a page</p>".repeat(1_000);
const page = (type = "text/html; charset=utf-8", body = text) =>
  new Response(body, {
    status: 200,
    headers: [
      ["content-type", type],
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
    ],
  });
const request = (headers: Record<string, string>, method = "GET") =>
  new Request("http://localhost/console", { method, headers: { "accept-encoding": "gzip, deflate, br", ...headers } });

test.each(["same-origin", "none"])("a page that its reader asked for (%s) is compressed, with all its headers", async (site) => {
  const answer = await compressedPage(request({ "sec-fetch-site": site }), page());
  const { status, headers } = answer;
  expect([status, headers.get("content-encoding"), headers.getSetCookie()]).toEqual([200, "gzip", ["a=1", "b=2"]]);
  const bytes = new Uint8Array(await answer.arrayBuffer());
  expect(bytes.length).toBeLessThan(text.length / 20);
  expect(gunzipSync(bytes).toString()).toBe(text);
});

test.each([
  ["that another site asked for", request({ "sec-fetch-site": "cross-site" })],
  ["that another host of the same site asked for", request({ "sec-fetch-site": "same-site" })],
  ["for a browser that does not say who asked", request({})],
  ["that answers a form", request({ "sec-fetch-site": "same-origin" }, "POST")],
  ["for a client that takes no gzip", request({ "sec-fetch-site": "none", "accept-encoding": "br" })],
])("a page %s is not compressed", async (_, asked) => {
  const answer = await compressedPage(asked, page());
  expect([answer.headers.get("content-encoding"), await answer.text()]).toEqual([null, text]);
});

test("a small page, and what is no text, stay as they are", async () => {
  for (const one of [page("text/html", "<p>small</p>"), page("application/zip")]) {
    const answer = await compressedPage(request({ "sec-fetch-site": "none" }), one);
    expect([answer.headers.get("content-encoding"), answer.headers.getSetCookie()]).toEqual([null, ["a=1", "b=2"]]);
  }
});
