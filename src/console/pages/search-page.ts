/**
 * Search: what a name, an address or a pasted id means in this workspace, and what can be done here. The palette of the script asks this
 * page and shows its links; without a script it is a page like the others. It lists what the viewer's role may see, from the endpoints of
 * the lists themselves, the first few of each kind. The operator's pages have a search of their own (operator/find-page.ts).
 *
 * A whole API key may be pasted by mistake. It is a secret, so it is never shown again, and only its last four characters are searched for;
 * the script sends no more than these.
 */
import { DomainError } from "../../accounts/errors.ts";
import { connectionEndpoints } from "../../control-api/endpoints/connections.ts";
import { keyEndpoints } from "../../control-api/endpoints/keys.ts";
import { logEndpoints } from "../../control-api/endpoints/log.ts";
import { memberEndpoints } from "../../control-api/endpoints/members.ts";
import { componentEndpoints, productEndpoints, projectEndpoints } from "../../control-api/endpoints/projects.ts";
import { refusalEndpoints } from "../../control-api/endpoints/refusals.ts";
import { ticketEndpoints } from "../../control-api/endpoints/tickets.ts";
import { viewEndpoints } from "../../control-api/endpoints/views.ts";
import { markup, type Html } from "../../http/html.ts";
import { address, filterForm } from "../look/forms.ts";
import { emptyState, section, userText } from "../look/parts.ts";
import type { Page, PageCall, PageContent } from "../page.ts";
import { roleName } from "../viewer.ts";
import { connectorName, searchConnectors } from "./connections-page.ts";
import { requestPath } from "./inference/request-columns.ts";
import { shownStepsPath } from "./workspace/first-steps.ts";
import { listName } from "./workspace/saved-views-page.ts";

export const searchPage: Page = {
  of: "workspace",
  path: "/find",
  navigation: null,
  roles: ["member", "auditor", "admin", "super_admin"],
  render,
};

const charactersMax = 100;
/** Of each kind. */
export const foundMax = 5;

export interface Found {
  path: string;
  name: string;
  /** What tells it from others of the same name. */
  note: string | null;
}

export interface FoundKind {
  label: string;
  find(q: string, call: PageCall): Promise<Found[]> | Found[];
}

/** @param nothing ends "Nothing here is called …" */
interface Searched {
  kinds: readonly FoundKind[];
  nothing: string;
}

/** The page of a search: its field, and what each kind has of what was typed. */
export async function searchContent(call: PageCall, { kinds, nothing }: Searched): Promise<PageContent> {
  const typed = (call.query.get("q") ?? "").trim().slice(0, charactersMax);
  const isSecret = isWholeKey(typed);
  const q = isSecret ? typed.slice(-4) : typed;
  const groups = await Promise.all(kinds.map(async ({ label, find }) => ({ label, rows: await find(q, call) })));
  const all = groups.filter(({ rows }) => rows.length > 0);
  const none = emptyState(markup`Nothing here is called “${userText(q)}”: ${nothing}`, null);
  return {
    title: "Search",
    lead: isSecret ? "That is a key itself. It was searched for by its last four characters; search for those next time." : null,
    main: markup`${filterForm({ path: call.path, filters: [{ name: "q", label: "Name, address or id", kind: "text", value: q }], submit: "Search" })}
      ${all.length === 0 ? none : all.map(({ label, rows }, index) => section(`found-${index}`, label, list(label, rows)))}`,
  };
}

function render(call: PageCall): Promise<PageContent> {
  const offered = kinds.filter(({ list }) => call.offers(list));
  const things = offered.map(({ label, find }): FoundKind => ({
    label,
    find: async (q) => (q === "" ? [] : (await find(q, call)).map((row) => ({ ...row, path: call.link(row.path) }))),
  }));
  return searchContent(call, {
    kinds: [{ label: "Actions", find: (q) => acts(q, call) }, ...things],
    nothing: "not a key, member, model, project, product, ticket, connection or vendor, and no id.",
  });
}

/** Such as `weir-api-` and 43 characters. */
function isWholeKey(text: string): boolean {
  const kind = text.search(/-(?:api|tools)-/);
  return kind > 0 && text.length - kind > 24 && !/[^\w-]/.test(text);
}

function list(label: string, rows: readonly Found[]): Html {
  const items = rows.map(
    ({ path, name, note }) =>
      markup`<li><a href="${path}">${userText(name)}</a>${note === null ? null : markup` <small class="none">${userText(note)}</small>`}</li>`,
  );
  return markup`<ul class="found" role="list" data-found="${label}">${items}</ul>`;
}

/** What begins something, by the page that does it. */
const actPaths: readonly [path: string, words: string][] = [
  ["/keys/new", "Create a key"],
  ["/members/new", "Invite a member"],
  ["/workbench", "Try a model in the Workbench"],
  ["/projects/new", "Add a project"],
  ["/components", "Find a component in all projects"],
  ["/connections/new", "Connect a vendor"],
  ["/provider-keys/new", "Add a provider key"],
  ["/alerts/new", "Set an alert"],
  ["/alerts/webhooks/new", "Add a webhook"],
  ["/products/new", "Add a product"],
  ["/views", "Edit saved views"],
  [shownStepsPath, "Show the first steps"],
];

function acts(q: string, call: PageCall): Found[] {
  return actsNamed(
    q,
    actPaths.filter(([path]) => call.offers(path.replace(/\?.*/, ""))),
    call,
  );
}

/** @param offered paths of this kind of page, and what their pages do */
export function actsNamed(q: string, offered: readonly (readonly [path: string, words: string])[], call: PageCall): Found[] {
  const named = offered.filter(([, name]) => name.toLowerCase().includes(q.toLowerCase()));
  return named.map(([path, name]) => ({ path: call.link(path), name, note: null }));
}

/** The kinds, each with the page that lists it. What they find has its path below the workspace. */
const kinds: { label: string; list: string; find(q: string, call: PageCall): Promise<Found[]> }[] = [
  { label: "Views", list: "/views", find: findViews },
  { label: "Requests", list: "/requests", find: findRequest },
  { label: "Keys", list: "/keys", find: findKeys },
  { label: "Members", list: "/members", find: findMembers },
  { label: "Models", list: "/models", find: findModels },
  { label: "Projects", list: "/projects", find: findProjects },
  { label: "Components", list: "/components", find: findComponent },
  { label: "Vulnerabilities", list: "/vulnerabilities", find: findVulnerability },
  { label: "Findings", list: "/findings", find: pasted("fnd_", "/findings/") },
  { label: "Products", list: "/products", find: findProducts },
  { label: "Tickets", list: "/tickets", find: findTickets },
  { label: "Connections", list: "/connections", find: findConnections },
  { label: "Vendors", list: "/connections/new", find: findVendors },
  { label: "Provider keys", list: "/provider-keys", find: pasted("own-", "/provider-keys/") },
  { label: "Payments", list: "/top-ups", find: pasted("top-", "/top-ups/") },
  { label: "Alerts", list: "/alerts", find: pasted("rule-", "/alerts/rules/") },
  { label: "Webhooks", list: "/alerts", find: pasted("hook-", "/alerts/webhooks/") },
];

async function findRequest(q: string, call: PageCall): Promise<Found[]> {
  const row = await requestNamed(q, call);
  return row === null ? [] : [row];
}

/** A generation, or a call that was refused, which has the id of its request alone. Its path is below its workspace. */
export async function requestNamed(q: string, call: PageCall): Promise<(Found & { workspace: string }) | null> {
  if (!/^(?:gen|req)-[a-z2-7]{26}$/.test(q)) return null;
  const ended = await unlessUnknown(call.control(logEndpoints.show, { id: q }));
  if (ended !== null) return { ...foundRequest(ended), note: `${ended.model}, ${ended.status}`, workspace: ended.workspace_id };
  const refused = q.startsWith("req-") ? await unlessUnknown(call.control(refusalEndpoints.show, { id: q })) : null;
  return refused && { ...foundRequest(refused), note: `refused, ${refused.code}`, workspace: refused.workspace_id };
}

function foundRequest(row: Parameters<typeof requestPath>[0]): Pick<Found, "path" | "name"> {
  return { path: requestPath(row), name: "generation_id" in row ? row.generation_id : row.request_id };
}

async function findKeys(q: string, call: PageCall): Promise<Found[]> {
  const byId = /^key-[a-z2-7]{26}$/.test(q) ? await unlessUnknown(call.control(keyEndpoints.show, { id: q })) : null;
  const rows = byId === null ? (await call.control(keyEndpoints.list, { text: q, limit: String(foundMax) })).data : [byId];
  return rows.map(({ id, name, masked, owner }) => ({ path: `/keys/${id}`, name, note: `${masked}, ${owner}` }));
}

async function findMembers(q: string, call: PageCall): Promise<Found[]> {
  const { data } = await call.control(memberEndpoints.list, { workspace: call.workspace.id, text: q, limit: String(foundMax) });
  return data.map(({ email, role }) => ({ path: `/members/${encodeURIComponent(email)}`, name: email, note: roleName(role) }));
}

/** All words, as in the list of models. */
async function findModels(q: string, { parts }: PageCall): Promise<Found[]> {
  const { models } = parts.control;
  if (models.catalog() === null) return [];
  const words = q.toLowerCase().split(/\s+/);
  const found = models.list().filter(({ id, name }) => words.every((word) => `${id} ${name}`.toLowerCase().includes(word)));
  return found.slice(0, foundMax).map(({ id, name }) => ({ path: `/models/${id}`, name, note: id }));
}

async function findProjects(q: string, call: PageCall): Promise<Found[]> {
  const isId = /^prj_[a-z2-7]{26}$/.test(q);
  const byId = isId ? await unlessUnknown(call.control(projectEndpoints.show, { id: q })) : null;
  if (byId !== null) return [{ path: `/projects/${q}`, name: byId.name, note: null }];
  const { data } = await call.control(projectEndpoints.list, { text: q, limit: String(foundMax) });
  return data.map(({ id, name }) => ({ path: `/projects/${id}`, name, note: null }));
}

/** Where a component is, in one row: the page has the projects. Shorter words begin too many names. */
async function findComponent(q: string, call: PageCall): Promise<Found[]> {
  if (q.length < 3) return [];
  const sought = call.control(componentEndpoints.find, { name: q, limit: "1" });
  const { total, projects, cut } = await sought.catch((error: unknown) => {
    // Such as a package URL that is not whole yet.
    if (error instanceof DomainError && error.code === "invalid_field") return { total: 0, projects: 0, cut: false };
    throw error;
  });
  const where = `${cut ? "at least " : ""}${projects.toLocaleString("en-US")} ${projects === 1 ? "project" : "projects"}`;
  return total === 0 ? [] : [{ path: address("/components", { name: q }), name: `Component ${q}`, note: `in ${where}` }];
}

async function findProducts(q: string, call: PageCall): Promise<Found[]> {
  const isId = /^prd_[a-z2-7]{26}$/.test(q);
  const byId = isId ? await unlessUnknown(call.control(productEndpoints.show, { id: q })) : null;
  const rows = byId === null ? (await call.control(productEndpoints.list, { text: q, limit: String(foundMax) })).data : [byId];
  return rows.map(({ id, name }) => ({ path: `/products/${id}`, name, note: null }));
}

async function findTickets(q: string, call: PageCall): Promise<Found[]> {
  const isId = /^tkt_[a-z2-7]{26}$/.test(q);
  const byId = isId ? await unlessUnknown(call.control(ticketEndpoints.show, { id: q })) : null;
  const rows = byId === null ? (await call.control(ticketEndpoints.list, { text: q, limit: String(foundMax) })).data : [byId];
  return rows.map(({ id, reference, subject }) => ({ path: `/tickets/${id}`, name: subject, note: reference }));
}

async function findVulnerability(q: string): Promise<Found[]> {
  const isName = /^(?:CVE-\d{4}-\d{4,}|[A-Z]{2,10}-[\w-]{4,60})$/i.test(q) && /\d/.test(q) && !isOwnName.test(q);
  return isName ? [{ path: `/vulnerabilities/${encodeURIComponent(q)}`, name: q, note: null }] : [];
}

/** Ids of this service, such as `key-…`, and references of tickets. */
const isOwnName = /^(?:[a-z]+-[a-z2-7]{26}|(?:BUG|FB|SUP)-\w{8})$/i;

/** Finds what is known by its id alone: its page says whether there is such a one. */
function pasted(prefix: string, page: string): (q: string) => Promise<Found[]> {
  return async (q) =>
    q.startsWith(prefix) && /^[a-z2-7]{26}$/.test(q.slice(prefix.length)) ? [{ path: page + q, name: q, note: null }] : [];
}

/** Those of the viewer. */
async function findViews(q: string, call: PageCall): Promise<Found[]> {
  const { data } = await call.control(viewEndpoints.list);
  const named = data.filter(({ list, name }) => call.offers(`/${list}`) && name.toLowerCase().includes(q.toLowerCase()));
  return named.slice(0, foundMax).map(({ list, name, query }) => ({ path: `/${list}?${query}`, name, note: listName(list) }));
}

async function findConnections(q: string, call: PageCall): Promise<Found[]> {
  const { data } = await call.control(connectionEndpoints.list);
  const named = data.map(({ id, connector }) => ({ id, name: connectorName(connector, call) }));
  const found = named.filter(({ id, name }) => id === q || name.toLowerCase().includes(q.toLowerCase()));
  return found.slice(0, foundMax).map(({ id, name }) => ({ path: `/connections/${id}`, name, note: "connected" }));
}

async function findVendors(q: string, call: PageCall): Promise<Found[]> {
  if (call.parts.control.connectors.published === null) return [];
  const { rows } = searchConnectors(q, { call, most: foundMax });
  return rows.map(({ slug, name }) => ({ path: `/connections/new/${slug}`, name: `Connect ${name}`, note: null }));
}

/** null for what the viewer may not see, as for what is unknown. */
export async function unlessUnknown<Row>(asked: Promise<Row>): Promise<Row | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof DomainError && error.code === "not_found") return null;
    throw error;
  }
}
