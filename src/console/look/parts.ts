/**
 * The components of pages: sections, notices, facts, tiles, tabs, dialogs, code, copy buttons, badges, tables, and in them texts, amounts
 * and times. Each is a function from data to HTML that knows no page; parts.css has its style. Each works without a script: a dialog is
 * then a separate page, and a button that needs a script is not shown. Text written by users is isolated, so that a right-to-left name does
 * not reorder the words around it.
 */
import { markup, type Html } from "../../http/html.ts";
import { formatUsd, parseUsd, type NanoUsd } from "../../kernel/money.ts";

export function section(id: string, title: string, body: Html): Html {
  return markup`<section aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>${body}</section>`;
}

// What a page says instead of its contents, or above them.

export interface Notice {
  tone: Tone;
  words: Content;
}

/** What an action did. It is read out without taking the focus. */
export function notice({ tone, words }: Notice): Html {
  return markup`<p class="notice ${tone}" role="${tone === "bad" ? "alert" : "status"}" data-announced>${content(words)}</p>`;
}

/** For a list without rows. @param action the link or button that changes this; null if the reader may not */
export function emptyState(words: Content, action: Html | null): Html {
  return markup`<div class="state"><p>${content(words)}</p>${action === null ? null : markup`<p>${action}</p>`}</div>`;
}

/** @param requestId the id by which the operator finds it in the log; null: none */
export function errorState({
  message,
  requestId,
  retryPath,
}: {
  message: string;
  requestId: string | null;
  retryPath: string | null;
}): Html {
  const retry = retryPath === null ? null : markup`<p><a class="button" href="${retryPath}">Try again</a></p>`;
  return markup`<div class="state bad" role="alert">
    <p>${content(message)}</p>
    ${requestId === null ? null : markup`<p class="under">Request <code id="failed-request">${requestId}</code> ${copyButton({ copies: "failed-request", label: "Copy" })}</p>`}
    ${retry}
  </div>`;
}

/** @param needed the roles that may see it, such as "auditor or admin" @param admins the addresses of some of those who change roles */
export function forbiddenState({ needed, role, admins }: { needed: string; role: string; admins: readonly string[] }): Html {
  const named = admins.map((email, index) => markup`${index === 0 ? null : " or "}${userText(email)}`);
  const asked = admins.length === 0 ? markup`an admin of the workspace` : markup`${named}`;
  return markup`<div class="state warn">
    <p>This page requires the ${needed} role. Your role in this workspace is ${role}.</p>
    <p class="under">To change your role, ask ${asked}.</p>
  </div>`;
}

// Properties of one thing, each with its name.

/** null shows a dash. */
export function facts(all: readonly (readonly [name: string, value: Content | null])[]): Html {
  const rows = all.map(
    ([name, value]) =>
      markup`<div><dt>${name}</dt><dd>${value === null ? markup`<span class="none">–</span>` : content(value)}</dd></div>`,
  );
  return markup`<dl class="facts">${rows}</dl>`;
}

// The few numbers that a page begins with.

export interface Tile {
  label: string;
  value: Content;
  /** How the value compares with an earlier one. */
  change?: string | null;
  note?: Content | null;
  /** Below the value: a meter or a sparkline. */
  drawing?: Html | null;
  /** Where the number comes from. */
  path?: string;
}

export function tiles(all: readonly Tile[]): Html {
  return markup`<dl class="tiles">${all.map(tile)}</dl>`;
}

function tile({ label, value, change = null, note = null, drawing = null, path }: Tile): Html {
  return markup`<div>
    <dt>${path === undefined ? label : markup`<a href="${path}">${label}</a>`}</dt>
    <dd class="value">${content(value)}</dd>
    ${change === null ? null : markup`<dd class="under">${change}</dd>`}${drawing === null ? null : markup`<dd>${drawing}</dd>`}${note === null ? null : markup`<dd class="under">${content(note)}</dd>`}
  </div>`;
}

// Views of one page, each with its own address.

interface Tab {
  path: string;
  label: string;
  /** Next to the label; null where counting would cost too much. */
  count: number | null;
  current: boolean;
}

export function tabs(name: string, views: readonly Tab[]): Html {
  const items = views.map(
    ({ path, label, count, current }) =>
      markup`<li><a href="${path}"${current ? markup` aria-current="page"` : null}>${label}${count === null ? null : markup` <span class="count">${count}</span>`}</a></li>`,
  );
  return markup`<nav class="tabs" aria-label="${name}"><ul role="list">${items}</ul></nav>`;
}

// Dialogs, which a script opens; without one, their opener leads to a page with the same contents.

interface Dialog {
  id: string;
  title: string;
  body: Html;
  /** `changes`: Escape asks if something was typed. `always`: it always asks, since the contents are shown only once. */
  asks: "changes" | "always" | null;
  /** Opens with the page; without a script it is part of the page. */
  opensAtOnce?: boolean;
  /** The page that the script shows once it is closed. */
  thenPath?: string;
}

/** A click outside it does nothing. */
export function dialog({ id, title, body, asks, opensAtOnce = false, thenPath }: Dialog): Html {
  return markup`<dialog id="${id}" aria-labelledby="${id}-title"${asks === null ? null : markup` data-asks="${asks}"`}${opensAtOnce ? markup` open data-at-once` : null}${thenPath === undefined ? null : markup` data-then="${thenPath}"`}>
    <div class="dialog-head">
      <h2 id="${id}-title">${title}</h2>
      ${asks === "always" ? null : markup`<button type="button" class="quiet small" data-closes aria-label="Close">✕</button>`}
    </div>
    ${body}
  </dialog>`;
}

/** @param path the page with the same contents */
export function opener({
  dialog,
  path,
  label,
  what,
  quiet = false,
}: {
  dialog: string;
  path: string;
  label: string;
  /** Tells it from others of the same label, for screen readers. */
  what?: string;
  quiet?: boolean;
}): Html {
  const unseen = what === undefined ? null : markup`<span class="unseen"> ${what}</span>`;
  return markup`<a class="button${quiet ? " quiet" : ""}" href="${path}" data-opens="${dialog}">${label}${unseen}</a>`;
}

/** Closes the dialog around it, even without a script. */
export function closeButton(label: string): Html {
  return markup`<form method="dialog" class="form-end"><button type="submit" data-agrees>${label}</button></form>`;
}

// Text for a terminal or an editor, alone or as one program in several languages.

/** A long line scrolls, since a break would matter when it is copied by hand. */
export function codeBlock({ id, code, label }: { id: string; code: string; label: string }): Html {
  return markup`<div class="code-block"><pre tabindex="0" role="region" aria-label="${label}"><code id="${id}">${code}</code></pre>${copyButton({ copies: id, label: "Copy", what: label })}</div>`;
}

export interface Sample {
  /** Such as "Python". */
  language: string;
  code: string;
}

interface Samples {
  id: string;
  legend: string;
  samples: readonly Sample[];
}

/** Radio buttons choose the language, so that it works without a script. At most five languages. */
export function codeSamples({ id, legend, samples }: Samples): Html {
  const blocks = samples.map(({ language, code }, index) => {
    const block = codeBlock({ id: `${id}-${index}`, code, label: `${legend}: ${language}` });
    return markup`<div data-sample="${index}">${block}</div>`;
  });
  const choices = samples.map(({ language: label }, index) => ({ value: String(index), label }));
  return markup`<div class="samples">${chooser({ name: id, legend, choices })}${blocks}</div>`;
}

interface Chooser {
  name: string;
  legend: string;
  choices: readonly { value: string; label: string }[];
}

/** Radio buttons side by side, of which the first is chosen. */
export function chooser({ name, legend, choices }: Chooser): Html {
  const buttons = choices.map(
    ({ value, label }, index) =>
      markup`<label><input type="radio" name="${name}" value="${value}"${index === 0 ? markup` checked` : null} autocomplete="off" />${label}</label>`,
  );
  return markup`<fieldset><legend class="unseen">${legend}</legend>${buttons}</fieldset>`;
}

// Buttons that copy text, shown only where a script can copy.

/** @param copies the id of the element or the field whose text is copied */
export function copyButton({ copies, label, what }: { copies: string; label: string; what?: string }): Html {
  const unseen = what === undefined ? null : markup`<span class="unseen"> ${what}</span>`;
  return markup`<button type="button" class="quiet small" data-copies="${copies}" hidden><span>${label}</span>${unseen}</button>`;
}

/** A line that can be selected and copied, such as a key that is shown once. */
export function copyField({ id, label, value }: { id: string; label: string; value: string }): Html {
  return markup`<div class="field">
    <label for="${id}">${label}</label>
    <div class="entry"><input id="${id}" class="code" type="text" value="${value}" readonly autocomplete="off" spellcheck="false" />${copyButton({ copies: id, label: "Copy", what: label })}</div>
  </div>`;
}

// A state in a word, with a mark and a colour for its meaning.

/** `good` works, `warn` needs attention soon, `bad` is broken or final, `neutral` is none of these. */
export type Tone = "good" | "warn" | "bad" | "neutral";

/** The mark also differs by tone, so that the colour is not needed. */
export function badge(tone: Tone, word: string): Html {
  return markup`<span class="badge ${tone}">${word}</span>`;
}

// Texts that users wrote.

/** What a component takes as contents: text is escaped and isolated, a number and a template are inserted as they are. */
export type Content = string | number | Html;

/** The longest word that stays whole, in characters: a narrow column is that wide. */
const wordMax = 20;

/**
 * Isolated, so that a right-to-left name does not reorder the words around it. Longer addresses and ids may break after a mark such as @ or
 * /, and longer pieces anywhere.
 */
export function userText(words: string, { inOneLine = false } = {}): Html {
  const pieces = hasLonger(words) ? words.split(/(?<=[@/_:-])/) : [words];
  const classes = [...(inOneLine ? ["line"] : []), ...(pieces.some(hasLonger) ? ["long"] : [])].join(" ");
  const broken = pieces.map((piece, index) => markup`${index === 0 ? null : markup`<wbr />`}${piece}`);
  return markup`<bdi${classes === "" ? null : markup` class="${classes}"`}>${broken}</bdi>`;
}

function hasLonger(words: string): boolean {
  return words.split(" ").some(({ length }) => length > wordMax);
}

export function content(given: Content): Html {
  return typeof given === "string" ? userText(given) : markup`${given}`;
}

// Amounts of USD, readable at a glance and exact in their title.

/**
 * @param amount nano-USD, or a decimal text of the control API; null gives `none`
 * @throws RangeError for a text that is not an amount
 */
export function money(amount: NanoUsd | string | null, none = "no limit"): Html {
  if (amount === null) return markup`<span class="none">${none}</span>`;
  const nano = typeof amount === "string" ? parseUsd(amount) : amount;
  const exact = formatUsd(nano);
  return markup`<data class="money" value="${exact}" title="${exact} USD">${roundedUsd(nano)}</data>`;
}

/**
 * Two decimals from one dollar, four from a hundredth of a cent; smaller amounts are shown in full, since they would round to zero.
 * @returns such as `$1,234.50`, `$0.0123` or `$0.000000001`
 */
export function roundedUsd(nano: NanoUsd): string {
  const size = nano < 0n ? -nano : nano;
  const decimals = size === 0n || size >= 1_000_000_000n ? 2 : size >= 100_000n ? 4 : 9;
  const step = 10n ** BigInt(9 - decimals);
  // Half up, as charges are rounded.
  const [whole = "", part = ""] = formatUsd(((size + step / 2n) / step) * step).split(".");
  const digits = part.slice(0, decimals);
  const shown = decimals === 2 ? digits : digits.replace(/0{1,7}$/, "").padEnd(2, "0");
  return `${nano < 0n ? "−" : ""}$${BigInt(whole).toLocaleString("en-US")}.${shown}`;
}

/** All decimals but trailing zeros, at least two: for round amounts, such as those of a scale. @returns such as `$0.00016` */
export function exactUsd(nano: NanoUsd): string {
  const [whole = "", part = ""] = formatUsd(nano).split(".");
  return `$${BigInt(whole).toLocaleString("en-US")}.${part.replace(/0{1,7}$/, "")}`;
}

/** An amount with all its nine decimals, so that printed amounts add up. @param usd as in the control API */
export function exactMoney(usd: string): Html {
  const [whole = "", decimals = ""] = usd.replace("-", "").split(".");
  const sign = usd.startsWith("-") ? "−" : "";
  return markup`<data class="money" value="${usd}">${sign}$${BigInt(whole).toLocaleString("en-US")}.${decimals}</data>`;
}

/** A limit as a person would type it, for the field of a form. @param usd as in the control API; null: none */
export function typedUsd(usd: string | null): string {
  return usd === null ? "" : usd.replace(/0{1,7}$/, "");
}

// Times, in UTC; a script shows them in the browser's zone, without the current year.

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** @param at ISO 8601 with Z; null gives `never` */
export function time(at: string | null, { never = "never", seconds = false } = {}): Html {
  if (at === null) return markup`<span class="none">${never}</span>`;
  const clock = at.slice(11, seconds ? 19 : 16);
  return markup`<time datetime="${at}" title="${at.slice(0, 10)} ${at.slice(11, 19)} UTC" data-local="${seconds ? "seconds" : "minutes"}">${day(at)}, ${clock} UTC</time>`;
}

/** A day of the calendar, the same in every zone: `24 Nov 2026`. @param date begins with YYYY-MM-DD */
export function day(date: string): string {
  return `${shortDay(date)} ${date.slice(0, 4)}`;
}

/** `24 Nov` */
export function shortDay(date: string): string {
  return `${Number(date.slice(8, 10))} ${months[Number(date.slice(5, 7)) - 1] ?? ""}`;
}

/** A statement's times are in UTC and with the year, in every browser and on paper. @param at ISO 8601 with Z */
export function utcTime(at: string): string {
  return `${day(at)}, ${at.slice(11, 19)} UTC`;
}

// A table, which becomes a list where the page is too narrow.

export interface Column<Row> {
  label: string;
  /** Numbers and money are aligned right; times, numbers and money do not wrap. `actions` has no visible heading. */
  kind: "text" | "number" | "money" | "time" | "badge" | "actions";
  /** null shows a dash. */
  cell: (row: Row) => Content | null;
  /** A text stays in one line where columns are side by side, however long it is. */
  inOneLine?: boolean;
  /** Replaces the label as the heading, such as by a link that sorts. */
  heading?: Html;
  /** How the rows are ordered by this column. */
  sorted?: "ascending" | "descending";
}

interface Table<Row> {
  /** What the rows are, such as "Active keys"; read by screen readers, and shown if `captioned`. */
  caption: string;
  captioned?: boolean;
  /** The first one names the row. */
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Shown instead of a table without rows. */
  empty: Html;
  /** Sums below the rows, one for each column; null leaves a cell empty. */
  totals?: readonly (Content | null)[];
}

/** The roles are explicit, because browsers drop those of a table that is laid out as a list. */
export function table<Row>({ caption, captioned = false, columns, rows, empty, totals }: Table<Row>): Html {
  if (rows.length === 0) return empty;
  const headings = columns.map(
    ({ label, kind, heading = label, sorted }) =>
      markup`<th role="columnheader" scope="col" class="of-${kind}"${sorted === undefined ? null : markup` aria-sort="${sorted}"`}>${kind === "actions" ? markup`<span class="unseen">${label}</span>` : heading}</th>`,
  );
  const body = rows.map(
    (row) =>
      markup`<tr role="row">${columns.map((column, index) => cell(column, { given: column.cell(row), first: index === 0 }))}</tr>`,
  );
  const sums =
    totals === undefined
      ? null
      : markup`<tfoot role="rowgroup"><tr role="row">${columns.map((column, index) => cell(column, { given: totals[index] ?? markup``, first: index === 0 }))}</tr></tfoot>`;
  return markup`<div class="sheet ${widthOf(columns.length)}"><table role="table" class="rows">
    <caption${captioned ? null : markup` class="unseen"`}>${caption}</caption>
    <thead role="rowgroup"><tr role="row">${headings}</tr></thead>
    <tbody role="rowgroup">${body}</tbody>${sums}
  </table></div>`;
}

function cell<Row>(column: Column<Row>, { given, first }: { given: Content | null; first: boolean }): Html {
  const { label, kind } = column;
  const shown = given === null ? markup`<span class="none" aria-label="none">–</span>` : inCell(given, column);
  if (first) return markup`<th role="rowheader" scope="row" class="of-${kind}">${shown}</th>`;
  return markup`<td role="cell" class="of-${kind}${given === null ? " lacks" : ""}" data-label="${label}">${shown}</td>`;
}

/** Few elements, since a page has many cells. The texts of figures and times are Weir's own; a text or several buttons have a width. */
function inCell<Row>(given: Content, { kind, inOneLine = false }: Column<Row>): Html {
  if (String(given) === "") return markup``;
  const isSized = kind === "text" || kind === "actions";
  if (typeof given === "string" && (isSized || kind === "badge")) return userText(given, { inOneLine });
  return isSized ? markup`<div>${given}</div>` : markup`${given}`;
}

/** The class for the width from which the columns are side by side. */
function widthOf(columns: number): string {
  return columns <= 5 ? "few" : "many";
}

// Links to the next and to the first rows of a list that is read by a cursor.

/** @param shown such as "50 requests"; null addresses are left out, and without any there is no line */
export function cursorLinks({
  shown,
  firstPath,
  nextPath,
}: {
  shown: string;
  firstPath: string | null;
  nextPath: string | null;
}): Html | null {
  if (firstPath === null && nextPath === null) return null;
  return markup`<nav class="pages" aria-label="Pages">
    <p>${shown}</p>
    ${firstPath === null ? null : markup`<a class="button quiet" href="${firstPath}" rel="first">Back to the first</a>`}
    ${nextPath === null ? null : markup`<a class="button quiet" href="${nextPath}" rel="next">Next</a>`}
  </nav>`;
}
