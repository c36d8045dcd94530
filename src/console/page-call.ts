/**
 * Finds the page of a path, and makes what the page gets: its viewer, its address, and the control API with the viewer's rights. Calls get
 * the same checks, audit and errors as over HTTP, but run within the process and name the endpoint instead of a path. The workspace of the
 * address is filled in, so that no page has to pass it on.
 */
import type { Turn } from "../accounts/quotas/fair-semaphore.ts";
import { formToken } from "../accounts/sessions/browser.ts";
import type { Endpoint } from "../control-api/endpoint.ts";
import { runEndpoint } from "../control-api/run-endpoint.ts";
import type { Page, HereWorkspace, PageCall, RefusedForm, ConsoleParts } from "./page.ts";
import { pages } from "./pages.ts";
import type { Viewer } from "./viewer.ts";

export interface FoundPage {
  page: Page;
  params: Record<string, string>;
  /** The name or id of the workspace in the path; null: the page belongs to none. */
  workspace: string | null;
  /** The beginning of the paths of pages of the same kind. */
  base: string;
}

/** @param path below /console, such as `/w/default/keys` @returns null if there is no such page */
export function findPage(path: string, pages: readonly Page[]): FoundPage | null {
  const [, first, second] = path.split("/");
  if (first === "w" && second) {
    const base = `/w/${second}`;
    return found(path.slice(base.length) || "/", { of: "workspace", workspace: decoded(second), base }, pages);
  }
  if (first === "operator")
    return found(path.slice("/operator".length) || "/", { of: "operator", workspace: null, base: "/operator" }, pages);
  return found(path, { of: "person", workspace: null, base: "" }, pages);
}

function found(path: string, { of, ...place }: Pick<FoundPage, "workspace" | "base"> & Pick<Page, "of">, pages: readonly Page[]) {
  for (const page of pages) {
    if (page.of !== of) continue;
    const params = matched(path, page.path);
    if (params !== null) return { page, params, ...place, base: `/console${place.base}` };
  }
  return null;
}

/** A last word that begins with `*` matches the rest of the path, for ids with slashes; other words match one part of it. */
function matched(path: string, pattern: string): Record<string, string> | null {
  const expected = pattern.split("/");
  const takesRest = expected.at(-1)?.startsWith("*") ?? false;
  const given = takesRest ? withRest(path.split("/"), expected.length) : path.split("/");
  if (given.length !== expected.length) return null;
  const params: Record<string, string> = {};
  for (const [index, word] of expected.entries()) {
    const part = given[index] ?? "";
    if (/^[:*]/.test(word)) params[word.slice(1)] = decoded(part);
    else if (word !== part) return null;
  }
  return params;
}

/** At most `count` parts of a path, with the rest in the last one. */
function withRest(parts: string[], count: number): string[] {
  return parts.length <= count ? parts : [...parts.slice(0, count - 1), parts.slice(count - 1).join("/")];
}

/** A malformed escape stays as it is, and so matches nothing. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// What the page gets

interface Address {
  viewer: Viewer;
  workspace: HereWorkspace;
  params: Record<string, string>;
  query: URLSearchParams;
  path: string;
  /** The beginning of the paths of pages of the same kind. */
  base: string;
  request: Request;
  /** Lasts until what the page calls has ended. */
  turn: Turn;
}

export function pageCall({ base, request, turn, ...address }: Address, parts: ConsoleParts): PageCall {
  const { viewer, workspace } = address;
  return {
    ...address,
    link: (path) => base + path,
    offers: (path) => pages.some((page) => page.of === "workspace" && page.path === path && mayBeSeen(page, workspace.role)),
    refused: null,
    formToken: formToken(viewer.token),
    nowMs: parts.control.clock.now(),
    publicUrl: parts.control.publicUrl,
    parts,
    async control(endpoint, ...[given = {}, file]) {
      const bytes = async () => file ?? new Uint8Array(0);
      const call = { principal: viewer.principal, endpoint, ...inputOf(endpoint, given, workspace), request, file: bytes, turn };
      const result = await runEndpoint(call, parts.control);
      if (result instanceof Response) throw new Error(`${endpoint.path} answers a page with a file or a stream`);
      return result;
    },
  };
}

/** The same call, to show a refused form again. */
export function withRefusal(call: PageCall, refused: RefusedForm): PageCall {
  return { ...call, refused };
}

/** Splits what a page gives as one object into the parameter of the path and the fields. */
function inputOf(
  { path, fields }: Pick<Endpoint, "path" | "fields">,
  given: object,
  workspace: HereWorkspace,
): { id: string; input: Record<string, unknown> } {
  const takesWorkspace = "workspace" in fields.properties && workspace.id !== "";
  const all: Record<string, unknown> = { ...(takesWorkspace && { workspace: workspace.id }), ...given };
  if (!path.includes("/:id")) return { id: "", input: all };
  const { id, ...input } = all;
  return { id: String(id), input };
}

function mayBeSeen({ roles }: Page, role: HereWorkspace["role"]): boolean {
  return role === "operator" || roles.includes(role);
}
