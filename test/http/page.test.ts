/** The frame that all pages share: their elements, their policy and their document. */
import { createHash } from "node:crypto";
import { describe, expect, test } from "bun:test";
import { markup } from "../../src/http/html.ts";
import { asset, pageStyle, pageDocument, pageHeader, pageHeaders, type PagePolicy } from "../../src/http/page.ts";

const style = asset("style", [pageStyle, pageStyle]);
const script = asset("script", [new URL("../../src/connectors/pages/set-up.js", import.meta.url)]);
const policyOf = (policy: Partial<PagePolicy>): string[] =>
  pageHeaders({ style, scripts: [], forms: "none", ...policy })["content-security-policy"]?.split("; ") ?? [];

describe("the policy of a page", () => {
  test("names the style by the digest of exactly the text between its tags", () => {
    const text = /^<style>([^]*)<\/style>$/.exec(String(style.element))?.[1] ?? "";
    expect(policyOf({})).toContain(`style-src 'sha256-${createHash("sha256").update(text).digest("base64")}'`);
  });

  test("allows a page without a script none, no connection, and no form", () => {
    expect(policyOf({})).toEqual([
      "default-src 'none'",
      `style-src ${style.hash}`,
      "img-src data:",
      "base-uri 'none'",
      "frame-ancestors 'none'",
      "form-action 'none'",
    ]);
  });

  test("allows exactly the page's scripts, which cannot make text into code, and connections only where asked for", () => {
    const policy = policyOf({ scripts: [script, style], forms: "self", connects: true });
    expect(policy.slice(5)).toEqual([
      `script-src ${script.hash} ${style.hash}`,
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
      "connect-src 'self'",
      "form-action 'self'",
    ]);
  });
});

test("a document has its title and header escaped, one main element, and its scripts last", () => {
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
  expect(text.trim().replaceAll(/\s+/g, " ")).toEndWith("</script> </body> </html>");
});
