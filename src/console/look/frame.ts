/**
 * A page of the Console as a document, with its menu and icons, the style and script of all pages, and the headers that it needs. shell.ts
 * makes the menu, since it decides who may see what.
 */
import { markup, type Html, trusted } from "../../http/html.ts";
import { type Asset, iconMark, pageDocument, pageHeader, pageHeaders, asset, pageStyle } from "../../http/page.ts";
import { themeButton, type Theme } from "./theme.ts";
import { notice, type Notice, userText, type Content } from "./parts.ts";

/** What surrounds a page, the same on all pages of a person. */
export interface Surroundings {
  homePath: string;
  /** The search of the workspace or of the operator; null: there is none, and the palette of the script knows the menu alone. */
  findPath: string | null;
  sections: NavigationSection[];
  /** The page's workspace, for the document's title. */
  place: string | null;
  switcher: Switcher;
  account: Account;
}

interface ConsolePage {
  /** The heading, and the first words of the document's title. */
  title: string;
  /** The pages above this one, from the outermost. */
  trail?: { path: string; label: string }[];
  /** Next to the heading, such as the state of what the page shows. */
  badge?: Html | null;
  /** One sentence below the heading. */
  lead?: Content | null;
  /** Links and buttons at the end of the heading's line. */
  actions?: Html | null;
  /** What the person's last action did. */
  notice?: Notice | null;
  main: Html;
  /** Of the shown version of a page that refreshes itself; null: it does not. */
  tag?: string | null;
  /** A part of the API reference; null: none. */
  reference?: string | null;
  /** In addition to the Console's own. */
  scripts?: readonly Asset[];
}

export function consolePage(page: ConsolePage, around: Surroundings): string {
  return pageDocument({
    title: [page.title, around.place, "Weir"].filter((words) => words !== null).join(" · "),
    style: consoleStyle,
    scripts: [consoleScript, ...(page.scripts ?? [])],
    header: side(around),
    main: markup`${trail(page.trail ?? [])}${heading(page)}${page.notice ? markup`<div data-said>${notice(page.notice)}</div>` : null}${page.main}${foot}`,
    footer: null,
  });
}

/** A narrow column without a menu, for pages such as the sign-in. */
export function plainPage(
  { title, lead, notice: said, main, scripts = [] }: Omit<ConsolePage, "trail" | "actions" | "badge">,
  homePath: string,
): string {
  return pageDocument({
    title: `${title} · Weir`,
    style: consoleStyle,
    scripts: [consoleScript, ...scripts],
    header: pageHeader({ home: { path: homePath, words: "Console" }, navigation: null }),
    main: markup`<div class="narrow">${heading({ title, lead: lead ?? null })}${said ? notice(said) : null}${main}</div>${live}`,
    footer: null,
  });
}

/**
 * @param connects whether a script of the page calls the service, as the Workbench's does
 * @param scripts the same as in the page
 */
export function consoleHeaders({ connects = false, scripts = [] }: { connects?: boolean; scripts?: readonly Asset[] } = {}) {
  return {
    ...pageHeaders({ scripts: [consoleScript, ...scripts], forms: "self", connects }),
    // Without a referrer the browser sends no origin with a form, and an older one could not prove that the form is ours.
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
  };
}

/** One column on a desktop; on a phone a bar whose menu opens. */
function side({ homePath, findPath, sections, switcher: workspaces, account }: Surroundings): Html {
  return markup`<header class="side">
    <p class="brand"><a class="home" href="${homePath}">${iconMark}<strong>Weir</strong></a>${findPath === null ? null : finder(findPath)}</p>
    <details class="menu">
      <summary>Menu</summary>
      ${switcher(workspaces)}${navigation(sections)}${accountMenu(account)}
    </details>
  </header>`;
}

/** The script opens the palette in place of the page, and says by which keys. */
function finder(path: string): Html {
  return markup`<a class="find" href="${path}" data-palette><svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="M7 11.5a4.5 4.5 0 1 0 0-9a4.5 4.5 0 0 0 0 9zM10.3 10.3l3.2 3.2" /></svg><span class="unseen">Search</span><kbd hidden></kbd></a>`;
}

function trail(steps: { path: string; label: string }[]): Html | null {
  if (steps.length === 0) return null;
  return markup`<nav class="trail" aria-label="Where this page is"><ol role="list">
    ${steps.map(({ path, label }) => markup`<li><a href="${path}">${userText(label)}</a></li>`)}
  </ol></nav>`;
}

function heading({
  title,
  badge = null,
  lead = null,
  actions = null,
  tag = null,
  reference = null,
}: Omit<ConsolePage, "main">): Html {
  const link = reference === null ? null : markup` <a href="/reference/${reference}">API&#160;reference</a>`;
  const words = typeof lead === "string" ? markup`${userText(lead)}${link}` : lead === null ? link : markup`${lead}${link}`;
  return markup`<div class="head">
    <div><h1><bdi>${title}</bdi>${badge === null ? null : markup` ${badge}`}</h1>${words === null ? null : markup`<p class="lead">${words}</p>`}</div>
    ${actions === null && tag === null ? null : markup`<div class="actions">${tag === null ? null : liveSwitch(tag)}${actions}</div>`}
  </div>`;
}

/** Shown by the script that refreshes the page. */
function liveSwitch(tag: string): Html {
  return markup`<button type="button" class="quiet live" data-refresh="${tag}" aria-pressed="true" hidden>Live</button>`;
}

/** Read out by screen readers when a script fills it. */
const live = markup`<p class="unseen" role="status" data-live></p>`;

/** The script replaces the words when it shows times in the browser's zone. */
const foot = markup`<p class="zone" data-zone>Times are in UTC.</p>${live}`;

// The Console's menu: links in sections, a workspace to choose, and the account.

export interface NavigationLink {
  path: string;
  label: string;
  icon: IconName;
  /** Whether the shown page is this one or below it. */
  current: boolean;
}

export interface NavigationSection {
  /** null for the first links, which have none. */
  title: string | null;
  links: NavigationLink[];
}

interface WorkspaceChoice {
  id: string;
  name: string;
}

interface Switcher {
  /** Receives the chosen id by GET, as `workspace`. */
  action: string;
  /** null on pages of no workspace. */
  current: WorkspaceChoice | null;
  choices: WorkspaceChoice[];
}

interface Account {
  /** Such as an e-mail address. */
  name: string;
  /** The role in the shown workspace, in words. */
  role: string;
  path: string;
  theme: Theme;
  /** Receives an empty POST. */
  signOutPath: string;
}

function navigation(sections: readonly NavigationSection[]): Html {
  return markup`<nav class="links" aria-label="Console">${sections.map(navigationSection)}</nav>`;
}

function navigationSection({ title, links }: NavigationSection, index: number): Html {
  const id = `links-${index}`;
  const list = markup`${links.map(link)}`;
  if (title === null) return markup`<ul role="list">${list}</ul>`;
  return markup`<p id="${id}">${title}</p><ul role="list" aria-labelledby="${id}">${list}</ul>`;
}

function link({ path, label, icon: name, current }: NavigationLink): Html {
  const letter = letters[label];
  const go = letter === undefined ? null : markup` data-go="${letter}"`;
  return markup`<li><a href="${path}"${current ? markup` aria-current="page"` : null}${go}>${icon(name)}${label}</a></li>`;
}

/** What follows the key g to go to a page of the menu, by its label. */
export const letters: Record<string, string> = {
  Home: "h",
  Keys: "k",
  Models: "m",
  Workbench: "w",
  Requests: "r",
  Spend: "s",
  Statements: "t",
  Projects: "p",
  Findings: "f",
  Vulnerabilities: "v",
  Products: "d",
  Tickets: "i",
  Connections: "c",
  Members: "e",
  Settings: ",",
  "Provider keys": "y",
  Alerts: "a",
  Audit: "u",
  Workspaces: "o",
  Advisories: "n",
  Ledger: "l",
  Fleet: "x",
  Providers: "q",
  Seller: "b",
};

/** Its button is shown once another workspace is chosen; a person with one workspace sees only its name. */
function switcher({ action, current, choices }: Switcher): Html | null {
  const others = choices.filter(({ id }) => id !== current?.id);
  if (others.length === 0)
    return current === null ? null : markup`<p class="switcher"><b title="${current.name}"><bdi>${current.name}</bdi></b></p>`;
  const option = ({ id, name }: WorkspaceChoice): Html =>
    markup`<option value="${id}"${id === current?.id ? markup` selected` : null}>${name}</option>`;
  return markup`<form class="switcher" method="get" action="${action}">
    <label class="unseen" for="workspace">Workspace</label>
    <select id="workspace" name="workspace" autocomplete="off">
      ${current === null ? markup`<option value="" selected>Choose a workspace</option>` : null}${choices.map(option)}
    </select>
    <button class="quiet" type="submit">Switch</button>
  </form>`;
}

function accountMenu({ name, role, path, theme, signOutPath }: Account): Html {
  return markup`<div class="account">
    <p><a href="${path}" title="${name}"><bdi>${name}</bdi></a><span class="under">${role}</span></p>
    ${themeButton(theme)}
    <form method="post" action="${signOutPath}"><button class="quiet theme" type="submit" title="Sign out"><svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="M6.5 2.5h-4v11h4M6 8h7.5M10.5 5l3 3-3 3" /></svg><span class="unseen">Sign out</span></button></form>
  </div>`;
}

// Line drawings for the navigation, in the colour of the text next to them.

/** On a square of 16. */
const drawings = {
  home: "M2.5 7.5 8 3l5.5 4.5V13h-4V9.5h-3V13h-4z",
  key: "M7 9a3 3 0 1 1 2.2-1L13.5 12.3V14H11v-1.5H9.5V11L8.2 9.7",
  models: "M8 2.5 13.5 5.5v5L8 13.5l-5.5-3v-5zM2.5 5.5 8 8.5l5.5-3M8 8.5v5",
  workbench: "M2.5 3.5h11v7h-6l-3 2.5v-2.5h-2zM5 6h6M5 8h4",
  requests: "M2.5 4h11M2.5 8h11M2.5 12h7",
  spend: "M3 13.5v-4M8 13.5v-11M13 13.5v-7",
  members:
    "M6 7.5a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6zM2 13.5c0-2.5 1.8-4 4-4s4 1.5 4 4M10.5 3.2a2.2 2.2 0 0 1 0 4.1M11.5 9.7c1.6.4 2.5 1.8 2.5 3.8",
  settings:
    "M2.5 5h6M12 5h1.5M2.5 11H4M7.5 11h6M10.2 6.7a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM5.7 12.7a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4z",
  audit: "M4 2.5h6l2.5 2.5v8.5H4zM6 7h4.5M6 9.5h4.5M6 12h2",
  alerts: "M8 2.5A3.5 3.5 0 0 0 4.5 6c0 3.3-1.5 4.5-1.5 4.5h10S11.5 9.3 11.5 6A3.5 3.5 0 0 0 8 2.5zM6.5 12.5a1.5 1.5 0 0 0 3 0",
  provider: "M5 6V2.5M11 6V2.5M3.5 6h9v2a4.5 4.5 0 0 1-9 0zM8 12.5v1.5",
  findings: "M8 2 13 4v4c0 3-2 5-5 6-3-1-5-3-5-6V4zM8 5.5V8.5M8 10.7v.3",
  projects: "M2.5 4h4l1.5 1.5h5.5V13h-11z",
  vulnerabilities:
    "M5.5 6a2.5 2.5 0 0 1 5 0M4.5 6.5h7v3a3.5 3.5 0 0 1-7 0zM8 6.5V13M4.5 9H2M14 9h-2.5M4.5 6.5 2.5 5M11.5 6.5l2-1.5M5 11.5 3 13M11 11.5l2 1.5",
  products: "M2.5 5 8 2.5 13.5 5 8 7.5zM2.5 8 8 10.5 13.5 8M2.5 11 8 13.5 13.5 11",
  ledger: "M3 2.5h10v11H3zM6 2.5v11M8 6h3M8 9h3",
  service: "M1.5 8.5h3l2-5 3 9 2-4h3",
  tickets: "M2.5 4.5h11V7a1 1 0 0 0 0 2v2.5h-11V9a1 1 0 0 0 0-2zM9.5 4.5v7",
  connections: "M6.5 9.5 9.5 6.5M7 4.5l1.5-1.5a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5 7.5 13A3 3 0 0 1 3 8.5L4.5 7",
  operator: "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.1M5 11h.1",
} as const;

export type IconName = keyof typeof drawings;

function icon(name: IconName): Html {
  return markup`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="${trusted(drawings[name])}" /></svg>`;
}

// The style and the script of every page of the Console.

const inLook = (file: string): URL => new URL(file, import.meta.url);

const styles = [
  "frame.css",
  "parts.css",
  "charts.css",
  "forms.css",
  "things.css",
  "workbench.css",
  "requests.css",
  "steps.css",
  "documents.css",
  "security.css",
  "live.css",
];
const behaviour = ["console.js", "live.js", "palette.js", "drawer.js"];
export const consoleStyle = asset("style", [pageStyle, ...styles.map(inLook)], "console");
export const consoleScript = asset("script", behaviour.map(inLook), "console");
