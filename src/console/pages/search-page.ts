/**
 * Search: what a name, an address or a pasted id means in this workspace, and what can be done here. The palette of the script asks this
 * page and shows its links; without a script it is a page like the others. It lists what the viewer's role may see, from the endpoints of
 * the lists themselves, the first few of each kind.
 *
 * A whole API key may be pasted by mistake. It is a secret, so it is never shown again, and only its last four characters are searched for;
 * the script sends no more than these.
 */
import { DomainError } from "../../accounts/errors.ts";
import { connectionEndpoints } from "../../control-api/endpoints/connections.ts";
import { keyEndpoints } from "../../control-api/endpoints/keys.ts";
import { logEndpoints } from "../../control-api/endpoints/log.ts";
import { memberEndpoints } from "../../control-api/endpoints/members.ts";
import { projectEndpoints } from "../../control-api/endpoints/projects.ts";
import { markup, type Html } from "../../http/html.ts";
import { filterForm } from "../look/forms.ts";
import { emptyState, section, userText } from "../look/parts.ts";
import type { Page, PageCall, PageContent } from "../page.ts";
import { roleName } from "../viewer.ts";
import { connectorName, searchConnectors } from "./connections-page.ts";

export const searchPage: Page = {
  of: "workspace",
  path: "/find",
  navigation: null,
  roles: ["member", "auditor", "admin", "super_admin"],
  render,
};

const charactersMax = 100;
/** Of each kind. */
const rowsMax = 5;

interface Found {
  /** Below the workspace. */
  path: string;
  name: string;
  /** What tells it from others of the same name. */
  note: string | null;
}

type Finder = (q: string, call: PageCall) => Promise<Found[]>;

async function render(call: PageCall): Promise<PageContent> {
  const typed = (call.query.get("q") ?? "").trim().slice(0, charactersMax);
  const isSecret = isWholeKey(typed);
  const q = isSecret ? typed.slice(-4) : typed;
  const groups = await Promise.all(
    kinds.map(async ({ label, list, find }) => ({ label, rows: call.offers(list) && q !== "" ? await find(q, call) : [] })),
  );
  const all = [{ label: "Acts", rows: acts(q, call) }, ...groups].filter(({ rows }) => rows.length > 0);
  const none = emptyState(
    markup`Nothing here is called “${userText(q)}”: not a key, member, model, project, connection or vendor, and no id.`,
    null,
  );
  return {
    title: "Search",
    lead: isSecret ? "That is a key itself. It was searched for by its last four characters; search for those next time." : null,
    main: markup`${filterForm({ path: call.path, filters: [{ name: "q", label: "Name, address or id", kind: "text", value: q }] })}
      ${all.length === 0 ? none : all.map(({ label, rows }, index) => section(`found-${index}`, label, list(label, rows, call)))}`,
  };
}

/** Such as `weir-api-` and 43 characters. */
function isWholeKey(text: string): boolean {
  const kind = text.search(/-(?:api|tools)-/);
  return kind > 0 && text.length - kind > 24 && !/[^\w-]/.test(text);
}

function list(label: string, rows: readonly Found[], call: PageCall): Html {
  const items = rows.map(
    ({ path, name, note }) =>
      markup`<li><a href="${call.link(path)}">${userText(name)}</a>${note === null ? null : markup` <small class="none">${userText(note)}</small>`}</li>`,
  );
  return markup`<ul class="found" role="list" data-found="${label}">${items}</ul>`;
}

/** What begins something, by the page that does it. */
const actPaths: [path: string, words: string][] = [
  ["/keys/new", "Create a key"],
  ["/members/new", "Invite a member"],
  ["/workbench", "Try a model in the Workbench"],
  ["/projects/new", "Add a project"],
  ["/connections/new", "Connect a vendor"],
  ["/provider-keys/new", "Add a provider key"],
  ["/alerts/new", "Set an alert"],
  ["/alerts/webhooks/new", "Add a webhook"],
  ["/products/new", "Add a product"],
];

function acts(q: string, call: PageCall): Found[] {
  const words = q.toLowerCase();
  const offered = actPaths.filter(([path, name]) => call.offers(path) && name.toLowerCase().includes(words));
  return offered.map(([path, name]) => ({ path, name, note: null }));
}

/** The kinds, each with the page that lists it. */
const kinds: { label: string; list: string; find: Finder }[] = [
  { label: "Requests", list: "/requests", find: findRequest },
  { label: "Keys", list: "/keys", find: findKeys },
  { label: "Members", list: "/members", find: findMembers },
  { label: "Models", list: "/models", find: findModels },
  { label: "Projects", list: "/projects", find: findProjects },
  { label: "Vulnerabilities", list: "/vulnerabilities", find: findVulnerability },
  { label: "Findings", list: "/findings", find: findFinding },
  { label: "Connections", list: "/connections", find: findConnections },
  { label: "Vendors", list: "/connections/new", find: findVendors },
];

async function findRequest(q: string, call: PageCall): Promise<Found[]> {
  if (!/^gen-[a-z2-7]{26}$/.test(q)) return [];
  const row = await unlessUnknown(call.control(logEndpoints.show, { id: q }));
  return row === null ? [] : [{ path: `/requests/${q}`, name: q, note: `${row.model}, ${row.status}` }];
}

async function findKeys(q: string, call: PageCall): Promise<Found[]> {
  const byId = /^key-[a-z2-7]{26}$/.test(q) ? await unlessUnknown(call.control(keyEndpoints.show, { id: q })) : null;
  const rows = byId === null ? (await call.control(keyEndpoints.list, { text: q, limit: String(rowsMax) })).data : [byId];
  return rows.map(({ id, name, masked, owner }) => ({ path: `/keys/${id}`, name, note: `${masked}, ${owner}` }));
}

async function findMembers(q: string, call: PageCall): Promise<Found[]> {
  const { data } = await call.control(memberEndpoints.list, { workspace: call.workspace.id, text: q, limit: String(rowsMax) });
  return data.map(({ email, role }) => ({ path: `/members/${encodeURIComponent(email)}`, name: email, note: roleName(role) }));
}

/** All words, as in the list of models. */
async function findModels(q: string, { parts }: PageCall): Promise<Found[]> {
  const { models } = parts.control;
  if (models.catalog() === null) return [];
  const words = q.toLowerCase().split(/\s+/);
  const found = models.list().filter(({ id, name }) => words.every((word) => `${id} ${name}`.toLowerCase().includes(word)));
  return found.slice(0, rowsMax).map(({ id, name }) => ({ path: `/models/${id}`, name, note: id }));
}

async function findProjects(q: string, call: PageCall): Promise<Found[]> {
  const isId = /^prj_[a-z2-7]{26}$/.test(q);
  const byId = isId ? await unlessUnknown(call.control(projectEndpoints.show, { id: q })) : null;
  if (byId !== null) return [{ path: `/projects/${q}`, name: byId.name, note: null }];
  const { data } = await call.control(projectEndpoints.list, { text: q, limit: String(rowsMax) });
  return data.map(({ id, name }) => ({ path: `/projects/${id}`, name, note: null }));
}

async function findVulnerability(q: string): Promise<Found[]> {
  const isName =
    /^(?:CVE-\d{4}-\d{4,}|[A-Z]{2,10}-[\w-]{4,60})$/i.test(q) && /\d/.test(q) && !/^(?:gen|key|con|fnd|prj)-/.test(q);
  return isName ? [{ path: `/vulnerabilities/${encodeURIComponent(q)}`, name: q, note: null }] : [];
}

async function findFinding(q: string): Promise<Found[]> {
  return /^fnd_[a-z2-7]{26}$/.test(q) ? [{ path: `/findings/${q}`, name: q, note: null }] : [];
}

async function findConnections(q: string, call: PageCall): Promise<Found[]> {
  const { data } = await call.control(connectionEndpoints.list);
  const named = data.map(({ id, connector }) => ({ id, name: connectorName(connector, call) }));
  const found = named.filter(({ id, name }) => id === q || name.toLowerCase().includes(q.toLowerCase()));
  return found.slice(0, rowsMax).map(({ id, name }) => ({ path: `/connections/${id}`, name, note: "connected" }));
}

async function findVendors(q: string, call: PageCall): Promise<Found[]> {
  if (call.parts.control.connectors.published === null) return [];
  const { rows } = searchConnectors(q, { call, most: rowsMax });
  return rows.map(({ slug, name }) => ({ path: `/connections/new/${slug}`, name: `Connect ${name}`, note: null }));
}

/** null for what the viewer may not see, as for what is unknown. */
async function unlessUnknown<Row>(asked: Promise<Row>): Promise<Row | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof DomainError && error.code === "not_found") return null;
    throw error;
  }
}
