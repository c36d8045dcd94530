/**
 * Text in Markdown, as advisories are written, as HTML: headings, paragraphs, lists, quotes, code, tables, emphasis and links of CommonMark,
 * and the tables and bare addresses of GitHub.
 *
 * The text is a stranger's. No HTML of it is taken over: a tag is shown as text, since everything is written by `markup`. Links go to http and
 * https alone and carry `rel`; images become links, so that nothing is loaded. The work is linear in the text, which is cut before: nesting is
 * bounded, each pattern is anchored and without nested repetition, and a mark that is not closed is looked for once.
 *
 * Written by hand: of 20 kB of hostile marks, marked overflows the stack or takes a third of a second, and markdown-it, with its seven
 * packages, a tenth; both answer a string of HTML that would have to be trusted. Footnotes, reference links and nested tables stay text.
 */
import { markup, type Html } from "../../http/html.ts";
import { outward } from "../../http/page.ts";
import { userText } from "./parts.ts";

/** Longer texts end with …. */
const charactersMost = 20_000;
/** Lists in quotes in lists; deeper ones are paragraphs. */
const depthMax = 6;

/** @param charactersMax where a longer text is cut; absent: 20,000 */
export function markdown(text: string, charactersMax = charactersMost): Html {
  const shown = text.length <= charactersMax ? text : `${cut(text, charactersMax)}…`;
  const lines = shown.replaceAll("\r\n", "\n").replaceAll("\t", "    ").split("\n");
  return markup`<div class="markdown">${blocks(lines, 0)}</div>`;
}

/** Never splits a surrogate pair. */
function cut(text: string, charactersMax: number): string {
  const kept = text.slice(0, charactersMax);
  return (kept.isWellFormed() ? kept : kept.slice(0, -1)).trimEnd();
}

// Blocks: each takes lines from the front, and says where the next one begins.

interface Block {
  html: Html;
  /** The line after it. */
  next: number;
}

function blocks(lines: readonly string[], depth: number): Html[] {
  const made: Html[] = [];
  for (let at = 0; at < lines.length;) {
    if (isBlank(lines[at])) {
      at++;
      continue;
    }
    const { html, next } = blockAt(lines, at, depth);
    made.push(html);
    at = next;
  }
  return made;
}

function blockAt(lines: readonly string[], at: number, depth: number): Block {
  const line = lines[at] ?? "";
  if (fenceOf(line) !== null) return fencedCode(lines, at);
  if (headingOf(line) !== null) return { html: heading(headingOf(line) ?? ""), next: at + 1 };
  if (isRule(line)) return { html: markup`<hr />`, next: at + 1 };
  if (/^ {4}/.test(line)) return indentedCode(lines, at);
  if (depth < depthMax && isQuote(line)) return quote(lines, at, depth);
  if (depth < depthMax && markerOf(line) !== null) return list(lines, at, depth);
  if (isTable(lines, at)) return table(lines, at);
  return paragraph(lines, at);
}

function isBlank(line: string | undefined): boolean {
  return line === undefined || line.trim() === "";
}

/** The page has headings of its own above, so each is one step below them. */
function heading(text: string): Html {
  return markup`<h3 dir="auto">${inline(text)}</h3>`;
}

/** @returns the text; null: the line is no heading */
function headingOf(line: string): string | null {
  if (!/^ {0,3}#{1,6}(?: |$)/.test(line)) return null;
  const bare = line
    .trim()
    .replace(/^#{1,6}/, "")
    .trim();
  let end = bare.length;
  while (bare[end - 1] === "#") end--;
  return end === 0 || bare[end - 1] === " " ? bare.slice(0, end).trimEnd() : bare;
}

function isRule(line: string): boolean {
  if (/^ {4}/.test(line)) return false;
  const marks = line.replaceAll(" ", "");
  return marks.length >= 3 && ["-", "*", "_"].some((mark) => marks.startsWith(mark) && marks === mark.repeat(marks.length));
}

interface Fence {
  mark: string;
  length: number;
}

function fenceOf(line: string): Fence | null {
  const [, marks = ""] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
  if (marks === "" || (marks.startsWith("`") && line.trim().slice(marks.length).includes("`"))) return null;
  return { mark: marks.charAt(0), length: marks.length };
}

/** To the closing fence, or to the end. */
function fencedCode(lines: readonly string[], at: number): Block {
  const opened = fenceOf(lines[at] ?? "");
  let end = at + 1;
  for (; end < lines.length; end++) {
    const words = (lines[end] ?? "").trim();
    if (opened !== null && words.length >= opened.length && words === opened.mark.repeat(words.length)) break;
  }
  return { html: code(lines.slice(at + 1, end)), next: end + 1 };
}

function indentedCode(lines: readonly string[], at: number): Block {
  let end = at;
  while (end < lines.length && (/^ {4}/.test(lines[end] ?? "") || isBlank(lines[end]))) end++;
  const kept = lines.slice(at, end).map((line) => line.slice(4));
  while (isBlank(kept.at(-1)) && kept.length > 0) kept.pop();
  return { html: code(kept), next: end };
}

function code(lines: readonly string[]): Html {
  return markup`<pre><code>${lines.join("\n")}</code></pre>`;
}

function isQuote(line: string): boolean {
  return /^ {0,3}>/.test(line);
}

function quote(lines: readonly string[], at: number, depth: number): Block {
  let end = at;
  while (end < lines.length && isQuote(lines[end] ?? "")) end++;
  const inner = lines.slice(at, end).map((line) => line.replace(/^ {0,3}> ?/, ""));
  return { html: markup`<blockquote>${blocks(inner, depth + 1)}</blockquote>`, next: end };
}

// Lists

interface Marker {
  ordered: boolean;
  /** Columns before the item's text. */
  width: number;
}

function markerOf(line: string): Marker | null {
  if (isRule(line)) return null;
  const [all, mark = ""] = /^ {0,3}([-*+]|\d{1,9}[.)])(?: {1,4}(?=\S)|$)/.exec(line) ?? [];
  if (all === undefined) return null;
  return { ordered: /\d/.test(mark), width: line.length === all.length ? all.length + 1 : all.length };
}

/** Items of one kind, until another block begins at the margin. */
function list(lines: readonly string[], at: number, depth: number): Block {
  const { ordered } = markerOf(lines[at] ?? "") ?? { ordered: false };
  const items: Html[] = [];
  let next = at;
  for (let marker = markerOf(lines[next] ?? ""); marker?.ordered === ordered; marker = markerOf(lines[next] ?? "")) {
    const end = endOfItem(lines, next, marker.width);
    const { width } = marker;
    const inner = lines.slice(next, end).map((line, index) => (index === 0 ? line.slice(width) : outdented(line, width)));
    items.push(markup`<li dir="auto">${tight(blocks(inner, depth + 1), inner)}</li>`);
    next = end;
    while (next < lines.length && isBlank(lines[next])) next++;
  }
  return { html: ordered ? markup`<ol>${items}</ol>` : markup`<ul>${items}</ul>`, next };
}

/** An item has what is indented below it, and the lines that continue its paragraph. */
function endOfItem(lines: readonly string[], at: number, width: number): number {
  let end = at + 1;
  for (; end < lines.length; end++) {
    const line = lines[end] ?? "";
    if (isBlank(line)) {
      let after = end;
      while (after < lines.length && isBlank(lines[after])) after++;
      if (indentOf(lines[after] ?? "") < width) return end;
      end = after - 1;
    } else if (indentOf(line) < width && (beginsBlock(line) || isBlank(lines[end - 1]))) return end;
  }
  return end;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function outdented(line: string, width: number): string {
  return line.slice(Math.min(indentOf(line), width));
}

/** An item of one paragraph is shown without it. */
function tight(made: readonly Html[], lines: readonly string[]): readonly Html[] | Html {
  const [only] = made;
  const isParagraph = only !== undefined && made.length === 1 && String(only).startsWith("<p dir");
  return isParagraph ? inline(lines.join("\n").trim()) : made;
}

function beginsBlock(line: string): boolean {
  return fenceOf(line) !== null || headingOf(line) !== null || isRule(line) || isQuote(line) || markerOf(line) !== null;
}

// Tables

function isTable(lines: readonly string[], at: number): boolean {
  const rule = lines[at + 1] ?? "";
  if (!(lines[at] ?? "").includes("|") || !rule.includes("-") || !/^[ |:-]+$/.test(rule)) return false;
  return cellsOf(lines[at] ?? "").length === cellsOf(rule).length;
}

function table(lines: readonly string[], at: number): Block {
  const heads = cellsOf(lines[at] ?? "");
  let end = at + 2;
  while (end < lines.length && !isBlank(lines[end]) && (lines[end] ?? "").includes("|")) end++;
  const rows = lines.slice(at + 2, end).map((line) => {
    const cells = cellsOf(line);
    return markup`<tr>${heads.map((_, index) => markup`<td dir="auto">${inline(cells[index] ?? "")}</td>`)}</tr>`;
  });
  const head = markup`<tr>${heads.map((text) => markup`<th scope="col" dir="auto">${inline(text)}</th>`)}</tr>`;
  return { html: markup`<table><thead>${head}</thead><tbody>${rows}</tbody></table>`, next: end };
}

/** Without the outer bars; `\|` is a bar in a cell. */
function cellsOf(line: string): string[] {
  const bare = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return bare.split(/(?<!\\)\|/).map((cell) => cell.replaceAll("\\|", "|").trim());
}

/** Until a blank line or another block. A line of = or - beneath makes it a heading. */
function paragraph(lines: readonly string[], at: number): Block {
  let end = at + 1;
  for (; end < lines.length && !isBlank(lines[end]); end++) {
    const line = lines[end] ?? "";
    if (/^ {0,3}(?:=+|-+) *$/.test(line)) return { html: heading(lines.slice(at, end).join(" ").trim()), next: end + 1 };
    if (beginsBlock(line) && !/^ {0,3}\d/.test(line)) break;
  }
  return { html: markup`<p dir="auto">${inline(lines.slice(at, end).join("\n").trim())}</p>`, next: end };
}

// Text in a block.

const emphases = [
  { mark: "**", wrap: (inner: Html) => markup`<strong>${inner}</strong>` },
  { mark: "__", wrap: (inner: Html) => markup`<strong>${inner}</strong>` },
  { mark: "~~", wrap: (inner: Html) => markup`<del>${inner}</del>` },
  { mark: "*", wrap: (inner: Html) => markup`<em>${inner}</em>` },
  { mark: "_", wrap: (inner: Html) => markup`<em>${inner}</em>` },
] as const;

const patterns = {
  escape: /\\([!-/:-@[-`{-~])/y,
  ticks: /`+/y,
  autolink: /<(https?:\/\/[^\s<>]{1,2000})>/y,
  link: /!?\[((?:[^[\]\\\n]|\\.){0,500})\]\( ?<?([^\s()<>]{0,2000})>?(?: +(?:"[^"\n]{0,500}"|'[^'\n]{0,500}'))? ?\)/y,
  address: /https?:\/\/[^\s<>"'`()[\]]{1,2000}/y,
  // Up to the next character that may begin something.
  plain: /[^\\`<![*_~h\n]+|h(?!ttps?:\/\/)/y,
};

/** @param depth of emphasis in emphasis */
function inline(text: string, depth = 0): Html {
  const parts: Html[] = [];
  const ticks = ticksIn(text);
  const unclosed = new Set<string>();
  const at = (pattern: RegExp, from: number): RegExpExecArray | null => {
    pattern.lastIndex = from;
    return pattern.exec(text);
  };
  for (let from = 0; from < text.length;) {
    const piece =
      plainAt(from, at) ??
      codeAt(from, { text, ticks, at }) ??
      linkAt(from, { at, depth }) ??
      emphasisAt(from, { text, unclosed, depth }) ??
      breakAt(from, text);
    parts.push(piece.html);
    from = piece.next;
  }
  return markup`${parts}`;
}

type At = (pattern: RegExp, from: number) => RegExpExecArray | null;

function plainAt(from: number, at: At): Block | null {
  const plain = at(patterns.plain, from);
  if (plain !== null) return { html: markup`${plain[0]}`, next: from + plain[0].length };
  const escaped = at(patterns.escape, from);
  return escaped === null ? null : { html: markup`${escaped[1] ?? ""}`, next: from + 2 };
}

/** The positions of runs of backticks, by their length, in order. */
function ticksIn(text: string): Map<number, number[]> {
  const runs = new Map<number, number[]>();
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    const same = runs.get(run.length);
    if (same === undefined) runs.set(run.length, [index]);
    else same.push(index);
  }
  return runs;
}

/** Between two runs of the same length; another run is text. */
function codeAt(from: number, { text, ticks, at }: { text: string; ticks: Map<number, number[]>; at: At }): Block | null {
  const run = at(patterns.ticks, from)?.[0];
  if (run === undefined) return null;
  const same = ticks.get(run.length) ?? [];
  while (same.length > 0 && (same[0] ?? 0) <= from) same.shift();
  const [end] = same;
  if (end === undefined) return { html: markup`${run}`, next: from + run.length };
  const inner = text.slice(from + run.length, end).replaceAll("\n", " ");
  const shown = inner.trim() === "" ? inner : inner.replace(/^ (.*) $/, "$1");
  return { html: markup`<code>${shown}</code>`, next: end + run.length };
}

function linkAt(from: number, { at, depth }: { at: At; depth: number }): Block | null {
  const link = at(patterns.link, from);
  if (link !== null) {
    const [all, label = "", url = ""] = link;
    const words = label.trim() === "" ? userText(url) : inline(label, depthMax);
    return { html: isAddress(url) ? outward(url, words) : words, next: from + all.length };
  }
  const auto = at(patterns.autolink, from);
  if (auto !== null) return { html: linkTo(auto[1] ?? "", depth), next: from + auto[0].length };
  const bare = at(patterns.address, from)?.[0];
  if (bare === undefined) return null;
  let end = bare.length;
  while (/[.,;:!?*_~]/.test(bare.charAt(end - 1))) end--;
  return { html: linkTo(bare.slice(0, end), depth), next: from + end };
}

/** No link in a link: the label of one is read at the greatest depth. */
function linkTo(url: string, depth: number): Html {
  return depth < depthMax && isAddress(url) ? outward(url, userText(url)) : userText(url);
}

function isAddress(url: string): boolean {
  return /^https?:\/\/[^\s]+$/.test(url) && URL.canParse(url);
}

interface Emphasised {
  text: string;
  /** Marks that no later mark closes. */
  unclosed: Set<string>;
  depth: number;
}

function emphasisAt(from: number, { text, unclosed, depth }: Emphasised): Block | null {
  for (const { mark, wrap } of emphases) {
    if (!text.startsWith(mark, from)) continue;
    const start = from + mark.length;
    const opens = /\S/.test(text.charAt(start)) && (!mark.startsWith("_") || !/[\p{L}\p{N}]/u.test(text.charAt(from - 1)));
    const end = opens && depth < depthMax && !unclosed.has(mark) ? closingOf(mark, text, start) : null;
    if (end !== null) return { html: wrap(inline(text.slice(start, end), depth + 1)), next: end + mark.length };
    if (opens) unclosed.add(mark);
  }
  return null;
}

/** @returns where the mark closes; null: nowhere in the text */
function closingOf(mark: string, text: string, start: number): number | null {
  for (let end = text.indexOf(mark, start + 1); end !== -1; end = text.indexOf(mark, end + 1)) {
    const before = text.charAt(end - 1);
    const after = text.charAt(end + mark.length);
    const isWhole = before !== mark.charAt(0) && after !== mark.charAt(0) && before !== "\\";
    const closes = /\S/.test(before) && (!mark.startsWith("_") || !/[\p{L}\p{N}]/u.test(after));
    if (closes && (isWhole || mark.length === 2)) return end;
  }
  return null;
}

/** A character that begins nothing, or the end of a line. */
function breakAt(from: number, text: string): Block {
  const character = text.charAt(from);
  const isHard = character === "\n" && (text.charAt(from - 1) === "\\" || text.slice(from - 2, from) === "  ");
  return { html: isHard ? markup`<br />` : markup`${character}`, next: from + 1 };
}
