/** Styles and scripts as files that a browser keeps for good. */
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "bun:test";
import { assetFile, assetRoutes } from "../../src/http/assets.ts";
import { systemClock } from "../../src/kernel/clock.ts";

const routes = assetRoutes(systemClock);
const ask = (path: string, init: RequestInit = {}) => routes.handle(new Request(`http://localhost${path}`, init));

describe("a file", () => {
  const style = assetFile({ name: "kept.css", type: "text/css; charset=utf-8", content: "a{color:red}".repeat(100) });
  const unpacked = { headers: { "accept-encoding": "identity" } };

  test("is kept for good at an address with its digest, and has no guessed type", async () => {
    const { status, headers } = await ask(style.path);
    expect([status, headers.get("cache-control"), headers.get("content-type"), headers.get("x-content-type-options")]).toEqual([
      200,
      "public, max-age=31536000, immutable",
      "text/css; charset=utf-8",
      "nosniff",
    ]);
    expect(style.path).toContain(style.digest.toString("hex").slice(0, 16));
  });

  test("is compressed for a browser that takes it", async () => {
    const packed = await ask(style.path, { headers: { "accept-encoding": "gzip, br" } });
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    const bytes = new Uint8Array(await packed.arrayBuffer());
    expect(bytes.length).toBeLessThan(100);
    expect(gunzipSync(bytes).toString()).toBe(await (await ask(style.path, unpacked)).text());
  });

  test("of another version is a style of the same name that is not kept, and a script never is", async () => {
    const script = assetFile({ name: "kept.js", type: "text/javascript; charset=utf-8", content: "1" });
    const other = await ask("/assets/0123456789abcdef/kept.css", unpacked);
    expect([other.status, other.headers.get("cache-control")]).toEqual([200, "public, no-cache"]);
    expect(await other.text()).toBe("a{color:red}".repeat(100));
    for (const path of ["/assets/0123456789abcdef/kept.js", "/assets/0123456789abcdef/none.css", `${script.path}/x`]) {
      expect([path, (await ask(path)).status]).toEqual([path, 404]);
    }
  });

  test("of bytes that are packed already is sent as it is", async () => {
    const font = assetFile({ name: "kept.woff2", type: "font/woff2", content: new Uint8Array([1, 2, 3]) });
    const { headers } = await ask(font.path, { headers: { "accept-encoding": "gzip" } });
    expect([headers.get("content-encoding"), headers.get("content-length")]).toEqual([null, "3"]);
  });
});
