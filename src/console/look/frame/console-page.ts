/** A page of the Console as a document, with its menu, and the headers that it needs. */
import { markup, type Html } from "../../../http/html.ts";
import { type Asset, iconMark, pageDocument, pageHeader, pageHeaders } from "../../../http/page.ts";
import { notice, type Notice } from "../states.ts";
import { userText, type Content } from "../user-text.ts";
import { consoleScript, consoleStyle } from "./assets.ts";
import { accountMenu, navigation, switcher, type Account, type NavigationSection, type Switcher } from "./navigation.ts";

/** What stands around the page, the same on all pages of a person. */
export interface Surroundings {
  homePath: string;
  sections: NavigationSection[];
  /** The workspace that the page is of, for the document's title. */
  place: string | null;
  switcher: Switcher;
  account: Account;
}

export interface ConsolePage {
  /** The heading, and the first words of the document's title. */
  title: string;
  /** The pages above this one, from the outermost. */
  trail?: { path: string; label: string }[];
  /** Beside the heading, such as the state of what the page shows. */
  badge?: Html | null;
  /** One sentence below the heading. */
  lead?: Content | null;
  /** Links and buttons at the end of the heading's line. */
  actions?: Html | null;
  /** What the person's last action did. */
  notice?: Notice | null;
  main: Html;
  /** Besides the Console's own. */
  scripts?: readonly Asset[];
}

export function consolePage(page: ConsolePage, around: Surroundings): string {
  return pageDocument({
    title: [page.title, around.place, "Weir"].filter((words) => words !== null).join(" · "),
    style: consoleStyle,
    scripts: [consoleScript, ...(page.scripts ?? [])],
    header: side(around),
    main: markup`${trail(page.trail ?? [])}${heading(page)}${page.notice ? notice(page.notice) : null}${page.main}${foot}`,
    footer: null,
  });
}

/** For pages of no member, such as the sign-in: a narrow column without a menu. */
export function plainPage(
  { title, lead, notice: told, main, scripts = [] }: Omit<ConsolePage, "trail" | "actions" | "badge">,
  homePath: string,
): string {
  return pageDocument({
    title: `${title} · Weir`,
    style: consoleStyle,
    scripts: [consoleScript, ...scripts],
    header: pageHeader({ home: { path: homePath, words: "Console" }, navigation: null }),
    main: markup`<div class="narrow">${heading({ title, lead: lead ?? null })}${told ? notice(told) : null}${main}</div>${live}`,
    footer: null,
  });
}

/**
 * @param connects whether a script of the page asks the service, as the Workbench's does
 * @param scripts the same as in the page
 */
export function consoleHeaders({ connects = false, scripts = [] }: { connects?: boolean; scripts?: readonly Asset[] } = {}) {
  return {
    ...pageHeaders({ style: consoleStyle, scripts: [consoleScript, ...scripts], forms: "self", connects }),
    // Without a referrer the browser names no origin with a form, and an older one could not show that the form is ours.
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
  };
}

/** One column on a desktop; on a phone a bar whose menu opens. */
function side({ homePath, sections, switcher: workspaces, account }: Surroundings): Html {
  return markup`<header class="side">
    <a class="home" href="${homePath}">${iconMark}<strong>Weir</strong></a>
    <details class="menu">
      <summary>Menu</summary>
      ${switcher(workspaces)}${navigation(sections)}${accountMenu(account)}
    </details>
  </header>`;
}

function trail(steps: { path: string; label: string }[]): Html | null {
  if (steps.length === 0) return null;
  return markup`<nav class="trail" aria-label="Where this page is"><ol role="list">
    ${steps.map(({ path, label }) => markup`<li><a href="${path}">${userText(label)}</a></li>`)}
  </ol></nav>`;
}

function heading({ title, badge = null, lead = null, actions = null }: Omit<ConsolePage, "main">): Html {
  const words = typeof lead === "string" ? userText(lead) : lead;
  return markup`<div class="head">
    <div><h1><bdi>${title}</bdi>${badge === null ? null : markup` ${badge}`}</h1>${words === null ? null : markup`<p class="lead">${words}</p>`}</div>
    ${actions === null ? null : markup`<div class="actions">${actions}</div>`}
  </div>`;
}

/** Read out by screen readers when a script fills it. */
const live = markup`<p class="unseen" role="status" data-live></p>`;

/** The script replaces the words, when it shows times in the browser's zone. */
const foot = markup`<p class="zone" data-zone>Times are in UTC.</p>${live}`;
