/**
 * What pages are made of: sections, notices, facts, tiles, tabs, dialogs, code, buttons that copy, badges. Each is a function from data to
 * HTML that knows no page; parts.css has its looks. Each works without a script: a dialog is then a page of its own, and a button that
 * needs one is not shown.
 */
import { markup, type Html } from "../../http/html.ts";
import { content, type Content } from "./values.ts";

export function section(id: string, title: string, body: Html): Html {
  return markup`<section aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>${body}</section>`;
}

// What a page says in place of its contents, or above them.

export interface Notice {
  tone: Tone;
  words: Content;
}

/** What an action did. It is read out without taking the focus. */
export function notice({ tone, words }: Notice): Html {
  return markup`<p class="notice ${tone}" role="${tone === "bad" ? "alert" : "status"}" data-announced>${content(words)}</p>`;
}

/** There is nothing yet. @param action the link or button that changes this; null if the reader may not */
export function emptyState(words: Content, action: Html | null): Html {
  return markup`<div class="state"><p>${content(words)}</p>${action === null ? null : markup`<p>${action}</p>`}</div>`;
}

/** @param requestId what the operator finds in the log; null if there is none */
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

/** @param needed the roles that may see it, such as "auditor or admin" */
export function forbiddenState({ what, needed, role }: { what: string; needed: string; role: string }): Html {
  return markup`<div class="state warn">
    <p>${what} requires the role ${needed}. Your role in this workspace is ${role}.</p>
    <p class="under">An admin of the workspace can change your role under Members.</p>
  </div>`;
}

// One thing's properties, each with its name.

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
  note?: Content | null;
  /** Below the value: a meter or a sparkline. */
  drawing?: Html | null;
  /** Where the number comes from. */
  path?: string;
}

export function tiles(all: readonly Tile[]): Html {
  return markup`<dl class="tiles">${all.map(tile)}</dl>`;
}

function tile({ label, value, note = null, drawing = null, path }: Tile): Html {
  return markup`<div>
    <dt>${path === undefined ? label : markup`<a href="${path}">${label}</a>`}</dt>
    <dd class="value">${content(value)}</dd>
    ${drawing === null ? null : markup`<dd>${drawing}</dd>`}${note === null ? null : markup`<dd class="under">${content(note)}</dd>`}
  </div>`;
}

// Views of one page, each with its own address.

interface Tab {
  path: string;
  label: string;
  /** Beside the label; null where counting would cost too much. */
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
  /** `changes`: Escape asks once something was typed. `always`: it asks, since what is shown is shown once. */
  asks: "changes" | "always" | null;
  /** Shown as soon as the page is; without a script within the page. */
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
  quiet = false,
}: {
  dialog: string;
  path: string;
  label: string;
  quiet?: boolean;
}): Html {
  return markup`<a class="button${quiet ? " quiet" : ""}" href="${path}" data-opens="${dialog}">${label}</a>`;
}

/** Closes the dialog around it, even without a script. */
export function closeButton(label: string): Html {
  return markup`<form method="dialog" class="form-end"><button type="submit" data-agrees>${label}</button></form>`;
}

// Text for a terminal or an editor, alone or as one program in several languages.

/** A long line scrolls: where it breaks matters when it is copied by hand. */
export function codeBlock({ id, code, label }: { id: string; code: string; label: string }): Html {
  return markup`<div class="code-block"><pre tabindex="0" role="region" aria-label="${label}"><code id="${id}">${code}</code></pre>${copyButton({ copies: id, label: "Copy", what: label })}</div>`;
}

export interface Sample {
  /** Such as "Python". */
  language: string;
  code: string;
}

/** Radio buttons choose the shown one, so that it works without a script. At most four. */
export function codeSamples({ id, legend, samples }: { id: string; legend: string; samples: readonly Sample[] }): Html {
  const choices = samples.map(
    ({ language }, index) =>
      markup`<label><input type="radio" name="${id}" value="${index}"${index === 0 ? markup` checked` : null} autocomplete="off" />${language}</label>`,
  );
  const blocks = samples.map(
    ({ language, code }, index) =>
      markup`<div data-sample="${index}">${codeBlock({ id: `${id}-${index}`, code, label: `${legend}: ${language}` })}</div>`,
  );
  return markup`<div class="samples"><fieldset><legend class="unseen">${legend}</legend>${choices}</fieldset>${blocks}</div>`;
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

// A state in a word, with a mark and a colour by its meaning.

/** `good` works, `warn` needs attention soon, `bad` is broken or final, `neutral` is none of these. */
export type Tone = "good" | "warn" | "bad" | "neutral";

/** The mark differs by tone too, so that the colour is not needed. */
export function badge(tone: Tone, word: string): Html {
  return markup`<span class="badge ${tone}">${word}</span>`;
}
