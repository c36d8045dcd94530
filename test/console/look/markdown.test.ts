/** The Markdown of advisories: what is rendered, what stays text, and that hostile text costs little. */
import { describe, expect, test } from "bun:test";
import { markdown } from "../../../src/console/look/markdown.ts";
import { threadMs } from "../../support/processes/thread-time.ts";

const html = (text: string): string =>
  String(markdown(text))
    .replace(/^<div class="markdown">|<\/div>$/g, "")
    .replaceAll(' dir="auto"', "")
    .replaceAll(' rel="noopener noreferrer" class="outward"', "")
    .replaceAll(/<\/?bdi[^>]*>|<wbr \/>/g, "");

describe("the Markdown of an advisory", () => {
  test.each([
    ["### Impact\nAttackers may abuse it.", "<h3>Impact</h3><p>Attackers may abuse it.</p>"],
    ["Impact\n======\nAll of it", "<h3>Impact</h3><p>All of it</p>"],
    ["One\nline\n\ntwo", "<p>One\nline</p><p>two</p>"],
    ["a **b _c_ d** e", "<p>a <strong>b <em>c</em> d</strong> e</p>"],
    ["snake_case_name and 2 * 3 * 4", "<p>snake_case_name and 2 * 3 * 4</p>"],
    ["run `npm i a*b` now", "<p>run <code>npm i a*b</code> now</p>"],
    ["``a ` b``", "<p><code>a ` b</code></p>"],
    ["- one\n- two\n  - three\n- four", "<ul><li>one</li><li><p>two</p><ul><li>three</li></ul></li><li>four</li></ul>"],
    ["1. one\n2. two", "<ol><li>one</li><li>two</li></ol>"],
    ["```js\nif (a < b) {}\n```\nafter", "<pre><code>if (a &#60; b) {}</code></pre><p>after</p>"],
    ["~~~\nnever closed", "<pre><code>never closed</code></pre>"],
    ["    indented", "<pre><code>indented</code></pre>"],
    ["> quoted\n> text", "<blockquote><p>quoted\ntext</p></blockquote>"],
    ["one\n\n---\n\ntwo", "<p>one</p><hr /><p>two</p>"],
    [
      "| a | b |\n|---|:-:|\n| 1 | `x\\|y` |",
      '<table><thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead><tbody><tr><td>1</td><td><code>x|y</code></td></tr></tbody></table>',
    ],
    ["[the fix](https://a.example/b)", '<p><a href="https://a.example/b">the fix</a></p>'],
    ["<https://a.example>", '<p><a href="https://a.example">https://a.example</a></p>'],
    ["See https://a.example/b_c. Then", '<p>See <a href="https://a.example/b_c">https://a.example/b_c</a>. Then</p>'],
    ["\\*not\\*", "<p>*not*</p>"],
  ])("%p is rendered", (text, expected) => {
    expect(html(text)).toBe(expected);
  });

  test.each([
    ["<script>alert(1)</script>", "<p>&#60;script&#62;alert(1)&#60;/script&#62;</p>"],
    ["<img src=x onerror=alert(1)>", "<p>&#60;img src=x onerror=alert(1)&#62;</p>"],
    ["[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"],
    ["[x](javascript:alert)", "<p>x</p>"],
    ["[x](data:text/html,hi)", "<p>x</p>"],
    ["![pixel](https://a.example/p.png)", '<p><a href="https://a.example/p.png">pixel</a></p>'],
    ['[x](https://a.example/"onclick="y)', '<p><a href="https://a.example/&#34;onclick=&#34;y">x</a></p>'],
    ["[<b>x</b>](https://a.example)", '<p><a href="https://a.example">&#60;b&#62;x&#60;/b&#62;</a></p>'],
  ])("%p brings no HTML, no script and no picture along", (text, expected) => {
    expect(html(text)).toBe(expected);
  });

  test("every link leaves with rel, and only to http and https", () => {
    const text = String(markdown("[a](https://a.example) <http://b.example> https://c.example [d](ftp://d.example)"));
    expect(text.match(/<a href="https?:[^"]*" rel="noopener noreferrer"/g)).toHaveLength(3);
    expect(text).not.toContain('ftp://d.example"');
  });

  test("a long text is cut, and never within a character", () => {
    expect(html("a".repeat(30_000))).toBe(`<p>${"a".repeat(20_000)}…</p>`);
    expect(String(markdown("😀😀", 3))).toContain('<p dir="auto">😀…</p>');
  });

  const hostile = [
    "*a ",
    "**a",
    "_a_b",
    "[a](",
    "[a](https://a.example/x",
    "![",
    "`",
    "> ",
    "- ",
    "- a\n  ",
    "1. ",
    "|",
    "a|b\n-|-\n",
    "#",
    "# ",
    "<https://",
    "https://a",
    "\\",
    "~~a ",
    "```\n",
    "\n",
    " ",
    "a\n===\n",
  ];

  test("hostile text takes little time, however its marks are repeated", () => {
    const ticks = Array.from({ length: 190 }, (_, index) => "`".repeat(index + 1)).join(" ");
    for (const piece of [...hostile, ticks, ...hostile.map((one) => `${one} x`)]) {
      const text = piece.repeat(Math.ceil(20_000 / piece.length));
      expect([piece, threadMs(() => markdown(text), 50) < 50]).toEqual([piece, true]);
    }
  });
});
