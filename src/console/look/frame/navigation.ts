/** The Console's menu: links in sections, a workspace to choose, and the account. */
import { markup, type Html } from "../../../http/html.ts";
import { icon, type IconName } from "./icon.ts";

export interface NavigationLink {
  path: string;
  label: string;
  icon: IconName;
  /** Whether the shown page is this one or below it. */
  current: boolean;
}

export interface NavigationSection {
  /** null for the first links, which need none. */
  title: string | null;
  links: NavigationLink[];
}

export interface WorkspaceChoice {
  id: string;
  name: string;
}

export interface Switcher {
  /** Receives the chosen id by GET, as `workspace`. */
  action: string;
  /** null on pages of no workspace. */
  current: WorkspaceChoice | null;
  choices: WorkspaceChoice[];
}

export interface Account {
  /** Such as an e-mail address. */
  name: string;
  /** In the shown workspace, in words. */
  role: string;
  path: string;
  /** Receives an empty POST. */
  signOutPath: string;
}

export function navigation(sections: readonly NavigationSection[]): Html {
  return markup`<nav class="links" aria-label="Console">${sections.map(section)}</nav>`;
}

function section({ title, links }: NavigationSection, index: number): Html {
  const id = `links-${index}`;
  const list = markup`${links.map(link)}`;
  if (title === null) return markup`<ul role="list">${list}</ul>`;
  return markup`<p id="${id}">${title}</p><ul role="list" aria-labelledby="${id}">${list}</ul>`;
}

function link({ path, label, icon: name, current }: NavigationLink): Html {
  return markup`<li><a href="${path}"${current ? markup` aria-current="page"` : null}>${icon(name)}${label}</a></li>`;
}

/** Its button is shown once another workspace is chosen; a person with one workspace sees its name alone. */
export function switcher({ action, current, choices }: Switcher): Html | null {
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

export function accountMenu({ name, role, path, signOutPath }: Account): Html {
  return markup`<div class="account">
    <p><a href="${path}" title="${name}"><bdi>${name}</bdi></a><span class="under">${role}</span></p>
    <form method="post" action="${signOutPath}"><button class="quiet" type="submit">Sign out</button></form>
  </div>`;
}
