/** The frame that all pages share: their elements, their policy and their document. */
import { createHash } from "node:crypto";
import { describe, expect, test } from "bun:test";
import { assetRoutes } from "../../src/http/assets.ts";
import { fontCredit } from "../../src/http/font.ts";
import { markup } from "../../src/http/html.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { asset, pageStyle, pageDocument, pageHeader, pageHeaders, type PagePolicy } from "../../src/http/page.ts";

const style = asset("style", [pageStyle, pageStyle]);
const script = asset("script", [new URL("../../src/connectors/pages/set-up.js", import.meta.url)]);
const other = asset("script", [new URL("../../src/server/pages/copy.js", import.meta.url)]);
const policyOf = (policy: Partial<PagePolicy>): string[] =>
  pageHeaders({ scripts: [], forms: "none", ...policy })["content-security-policy"]?.split("; ") ?? [];

describe("the policy of a page", () => {
  test("names a script by the digest of its bytes, and its element has the same one", async () => {
    const path = /src="([^"]+)"/.exec(String(script.element))?.[1] ?? "";
    const bytes = await (await assetRoutes(systemClock).handle(new Request(`http://localhost${path}`))).arrayBuffer();
    const digest = createHash("sha256").update(new Uint8Array(bytes)).digest("base64");
    expect(script.source).toBe(`'sha256-${digest}'`);
    expect(String(script.element)).toContain(`integrity="sha256-${digest}"`);
  });

  test("allows a page without a script none, no connection, and no form", () => {
    expect(policyOf({})).toEqual([
      "default-src 'none'",
      "style-src 'self'",
      "font-src 'self'",
      "img-src data:",
      "base-uri 'none'",
      "frame-ancestors 'none'",
      "form-action 'none'",
    ]);
  });

  test("allows exactly the page's scripts, which cannot make text into code, and connections only where asked for", () => {
    const policy = policyOf({ scripts: [script, other], forms: "self", connects: true });
    expect(policy.slice(6)).toEqual([
      `script-src ${script.source} ${other.source}`,
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
      "connect-src 'self'",
      "form-action 'self'",
    ]);
  });
});

test("every style begins with a font of this service, whose bytes are a font's, and no colour asks for the system's theme", async () => {
  const sheet = await textAt(/href="([^"]+)"/.exec(String(style.element))?.[1] ?? "");
  const fonts = [...sheet.matchAll(/src: ?url\(([^)]+)\)/g)].map(([, path = ""]) => path);
  expect(fonts.length).toBeGreaterThan(2);
  for (const path of fonts) expect(await textAt(path)).toStartWith("wOF2");
  const document = pageDocument({ title: "", style, scripts: [], header: markup``, main: markup``, footer: null });
  expect(document).toContain(`<link rel="preload" href="${fonts[0]}" as="font" type="font/woff2" crossorigin />`);
  expect(sheet).not.toContain("prefers-color-scheme");
  expect(await textAt(/href="([^"]+)"/.exec(String(fontCredit))?.[1] ?? "")).toContain("SIL OPEN FONT LICENSE Version 1.1");
});

async function textAt(path: string): Promise<string> {
  return (await assetRoutes(systemClock).handle(new Request(`http://localhost${path}`))).text();
}

test("a document has its title and header escaped, one main element, and its style and scripts in the head", () => {
  const header = pageHeader({ home: { path: "/?a=1&b=2", words: "<b>" }, navigation: markup`<a href="/x">X</a>` });
  const text = pageDocument({
    title: "<script>",
    style,
    scripts: [script],
    header,
    main: markup`<h1>1 &lt; 2</h1>`,
    footer: null,
  });
  expect(text).toContain("<title>&#60;script&#62;</title>");
  expect(text).toContain('<a class="home" href="/?a=1&#38;b=2">');
  expect(text).toContain("<strong>Weir</strong> &#60;b&#62;</a>");
  expect(text.match(/<main/g)).toHaveLength(1);
  expect(text.slice(0, text.indexOf("</head>"))).toContain(`${String(style.element)} ${String(script.element)}`);
  expect(text).not.toContain("<style");
});
