/** Conditional requests, encodings and ranges, by RFC 9110. */
import { gunzipSync } from "node:zlib";
import { expect, test } from "bun:test";
import { acceptsGzip, answer, readRange, documentOf } from "../../src/http/document.ts";

const text = "0123456789".repeat(100);
const document = await documentOf(text, "text/plain");
const { plain, gzip } = document;

function ask(headers: Record<string, string>, method = "GET"): Response {
  const request = new Request("http://localhost/", { method, headers: { "accept-encoding": "identity", ...headers } });
  return answer(request, document, { stays: "for good", ranges: true, version: "2026-11-20.1" });
}

test("the plain and the compressed bytes have different strong tags", async () => {
  const compressed = ask({ "accept-encoding": "gzip" });
  expect([compressed.headers.get("content-encoding"), compressed.headers.get("etag")]).toEqual(["gzip", gzip.etag]);
  expect(String(gunzipSync(await compressed.arrayBuffer()))).toBe(text);
  expect([ask({}).headers.get("content-encoding"), ask({}).headers.get("etag")]).toEqual([null, plain.etag]);
  expect(plain.etag).toMatch(/^"[0-9a-f]{64}"$/);
  expect(gzip.etag).not.toBe(plain.etag);
});

test.each([
  [null, false],
  ["", false],
  ["gzip", true],
  ["br, GZIP;q=0.5", true],
  ["*", true],
  ["gzip;q=0", false],
  ["identity, gzip;q=0.5", false],
  ["*;q=0", false],
  ["gzip;q=nonsense", false],
])("Accept-Encoding: %s", (header, accepted) => {
  expect(acceptsGzip(header)).toBe(accepted);
});

test.each([
  [plain.etag, 304],
  [`"other", W/${plain.etag}`, 304],
  ["*", 304],
  [gzip.etag, 200],
  ['"other"', 200],
  [plain.etag.slice(1, -1), 200],
])("If-None-Match: %s gives %i", async (header, status) => {
  const response = ask({ "if-none-match": header, range: "bytes=0-1" });
  expect(response.status).toBe(status === 200 ? 206 : 304);
  expect(response.headers.get("etag")).toBe(plain.etag);
  expect(response.headers.get("vary")).toBe("accept-encoding");
  if (status === 304) expect(await response.text()).toBe("");
});

test.each([
  ["bytes=0-0", { first: 0, last: 0 }],
  ["bytes=990-", { first: 990, last: 999 }],
  ["bytes=-5", { first: 995, last: 999 }],
  ["bytes=-5000", { first: 0, last: 999 }],
  ["bytes=10-99999", { first: 10, last: 999 }],
  ["bytes=1000-", "unsatisfiable"],
  ["bytes=-0", "unsatisfiable"],
  ["bytes=5-4", null],
  ["bytes=0-1,3-4", null],
  ["bytes=-", null],
  ["bytes=a-b", null],
  ["items=0-1", null],
  [null, null],
] as const)("Range: %s of 1,000 bytes", (header, range) => {
  expect<unknown>(readRange(header, 1_000)).toEqual(range);
});

test("ranges put together are the whole", async () => {
  const parts = [];
  for (let first = 0; first < text.length; first += 300) {
    const response = ask({ range: `bytes=${first}-${first + 299}`, "if-range": plain.etag });
    expect(response.status).toBe(206);
    expect(response.headers.get("content-range")).toBe(`bytes ${first}-${Math.min(first + 299, 999)}/1000`);
    parts.push(await response.text());
  }
  expect(parts.join("")).toBe(text);
});

test("a range is of the plain bytes, unless If-Range names the compressed ones", async () => {
  const accepting = { "accept-encoding": "gzip", range: "bytes=2-4" };
  const part = ask(accepting);
  expect([part.status, part.headers.get("content-encoding"), await part.text()]).toEqual([206, null, "234"]);
  const resumed = ask({ ...accepting, "if-range": gzip.etag });
  expect([resumed.status, resumed.headers.get("content-encoding")]).toEqual([206, "gzip"]);
  expect(new Uint8Array(await resumed.arrayBuffer())).toEqual(gzip.bytes.slice(2, 5));
});

test("If-Range with another tag, a weak one or a date gives the whole", async () => {
  for (const condition of ['"other"', `W/${plain.etag}`, "Fri, 20 Nov 2026 00:00:00 GMT"]) {
    const response = ask({ range: "bytes=0-1", "if-range": condition });
    expect([response.status, await response.text()]).toEqual([200, text]);
  }
});

test("bytes after the last are refused with the size", async () => {
  const response = ask({ range: "bytes=1000-" });
  expect([response.status, response.headers.get("content-range")]).toEqual([416, "bytes */1000"]);
  expect(await response.json()).toEqual({ detail: expect.stringContaining("Range") });
});

test("HEAD has the headers of GET and no body", async () => {
  const response = ask({ range: "bytes=0-1" }, "HEAD");
  expect([response.status, response.headers.get("content-length"), await response.text()]).toEqual([200, "1000", ""]);
});
