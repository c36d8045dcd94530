/**
 * Views of the Console's lists that a member saves by a name: the filters, the order and the columns of a list, as its address has them. A
 * view belongs to one member of one workspace. It gives no rights: the list still shows only what that member may see. It changes nothing
 * for others, so it is not audited. The operator has none, because the operator token does not say who uses it.
 */
import type { Database, Queries } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import { newSavedViewId, type WorkspaceId } from "../../kernel/ids.ts";
import type { Actor } from "../audit/actor.ts";
import { DomainError } from "../errors.ts";
import { savedViewCharactersMax, savedViewsMax } from "../limits.ts";
import type { SavedList, SavedView } from "../workspaces/schema.ts";
import * as store from "./store.ts";

/** One spelling of what an address says about a list: without what is empty, and in the order of names. */
export function canonicalQuery(query: string | URLSearchParams): string {
  const set = new URLSearchParams([...new URLSearchParams(query)].filter(([name, value]) => name !== "" && value !== ""));
  set.sort();
  return set.toString();
}

interface Owned {
  actor: Actor;
  workspace: WorkspaceId;
}

/** @param list null: those of all lists */
export async function listViews({ actor, workspace, list }: Owned & { list: SavedList | null }, sql: Queries) {
  return actor.kind === "member" ? store.selectViews({ workspace, email: actor.email, list }, sql) : [];
}

/**
 * Saves a view, in place of one of the same name, which stays the default unless the form says otherwise.
 * @throws DomainError conflict beyond the limit
 */
export async function saveView(
  { actor, workspace, ...form }: Owned & { list: SavedList; name: string; query: string; default?: boolean | undefined },
  { sql, clock }: { sql: Database; clock: Clock },
): Promise<SavedView> {
  const { list } = form;
  const owner = { workspace, email: ownerOf(actor) };
  const [name, query] = [nameOf(form.name), queryOf(form.query)];
  return sql.begin(async (tx) => {
    await store.lockViews(owner, tx);
    const views = await store.selectViews({ ...owner, list }, tx);
    const former = views.find((view) => view.name === name);
    if (former === undefined && views.length >= savedViewsMax) {
      throw new DomainError("conflict", `Cannot save this view: the list has ${savedViewsMax} of yours; delete one`);
    }
    const view = {
      id: former?.id ?? newSavedViewId(clock.now()),
      list,
      name,
      query,
      default: form.default ?? former?.default ?? false,
    };
    if (view.default) await store.clearDefaultView({ ...owner, list }, tx);
    await store.upsertView({ ...owner, ...view }, tx);
    return view;
  });
}

/** Gives a view another name, or makes it the one that the menu opens, or an ordinary one. @throws DomainError conflict for a taken name */
export async function editView(
  { actor, workspace, id, ...edit }: Owned & { id: string; name?: string | undefined; default?: boolean | undefined },
  { sql }: { sql: Database },
): Promise<SavedView> {
  const owner = { workspace, email: ownerOf(actor) };
  return sql.begin(async (tx) => {
    await store.lockViews(owner, tx);
    const views = await store.selectViews({ ...owner, list: null }, tx);
    const former = views.find((view) => view.id === id);
    if (former === undefined) throw noView(id);
    const view = { ...former, name: nameOf(edit.name ?? former.name), default: edit.default ?? former.default };
    if (views.some((one) => one.id !== id && one.list === view.list && one.name === view.name))
      throw new DomainError("conflict", `You have another view of this list called "${view.name}"`, { field: "name" });
    if (view.default && !former.default) await store.clearDefaultView({ ...owner, list: view.list }, tx);
    await store.upsertView({ ...owner, ...view }, tx);
    return view;
  });
}

export async function removeView({ actor, workspace, id }: Owned & { id: string }, sql: Queries): Promise<SavedView> {
  const owner = { workspace, email: ownerOf(actor) };
  const removed = await store.deleteView({ ...owner, id }, sql);
  if (removed === undefined) throw noView(id);
  return removed;
}

export function noView(id: string): DomainError {
  return new DomainError("not_found", `You have no saved view with the id "${id.slice(0, 100)}"`);
}

/** @throws DomainError forbidden */
function ownerOf(actor: Actor): string {
  if (actor.kind === "member") return actor.email;
  throw new DomainError("forbidden", "Cannot save views as the operator: they belong to members");
}

function nameOf(typed: string): string {
  const name = typed.trim();
  if (name !== "") return name;
  throw new DomainError("invalid_field", "A view needs a name", { field: "name" });
}

function queryOf(typed: string): string {
  const query = canonicalQuery(typed);
  if (query === "")
    throw new DomainError("invalid_field", "A view needs a filter, an order or columns, such as sort=-epss", { field: "query" });
  if (query.length <= savedViewCharactersMax) return query;
  const message = `The view's address is too long: at most ${savedViewCharactersMax} characters are possible`;
  throw new DomainError("invalid_field", message, { field: "query" });
}
