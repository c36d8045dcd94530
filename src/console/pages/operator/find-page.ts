/**
 * The operator's search: workspaces and providers by their names, keys of all workspaces, and the request of a pasted id wherever it was
 * made. The palette of the script asks it on the operator's pages.
 */
import { keyEndpoints } from "../../../control-api/endpoints/keys.ts";
import { providerEndpoints } from "../../../control-api/endpoints/providers.ts";
import { workspaceEndpoints } from "../../../control-api/endpoints/workspaces.ts";
import type { Page, PageCall } from "../../page.ts";
import { workspacePath } from "../../redirect.ts";
import { actsNamed, type Found, foundMax, type FoundKind, requestNamed, searchContent, unlessUnknown } from "../search-page.ts";

export const operatorFindPage: Page = {
  of: "operator",
  path: "/find",
  navigation: null,
  roles: [],
  render: (call) => searchContent(call, { kinds, nothing: "not a workspace, provider or key, and no id of a request." }),
};

const actPaths = [
  ["/workspaces/new", "Create a workspace"],
  ["/providers", "Add a provider"],
] as const;

const kinds: readonly FoundKind[] = [
  { label: "Actions", find: (q, call) => actsNamed(q, actPaths, call) },
  { label: "Workspaces", find: named(findWorkspaces) },
  { label: "Providers", find: named(findProviders) },
  { label: "Requests", find: named(findRequest) },
  { label: "Keys", find: named(findKeys) },
];

/** Nothing is found of an empty text. */
function named(find: (q: string, call: PageCall) => Promise<Found[]>): FoundKind["find"] {
  return (q, call) => (q === "" ? [] : find(q, call));
}

async function findWorkspaces(q: string, call: PageCall): Promise<Found[]> {
  const byId = /^ws-[a-z2-7]{26}$/.test(q) ? await unlessUnknown(call.control(workspaceEndpoints.show, { id: q })) : null;
  const rows = byId === null ? (await call.control(workspaceEndpoints.list, { text: q, limit: String(foundMax) })).data : [byId];
  return rows.map(({ id, name, enabled }) => ({
    path: call.link(`/workspaces/${id}`),
    name,
    note: enabled ? null : "switched off",
  }));
}

async function findProviders(q: string, call: PageCall): Promise<Found[]> {
  // A catalog that cannot be read must not keep the operator from the rest.
  const { data } = await call.control(providerEndpoints.list).catch(() => ({ data: [] }));
  const words = q.toLowerCase();
  const found = data.filter(({ id, name }) => id.includes(words) || name.toLowerCase().includes(words));
  return found.slice(0, foundMax).map(({ id, name, callable }) => ({
    path: call.link(`/providers/${id}`),
    name,
    note: `${callable} callable ${callable === 1 ? "model" : "models"}`,
  }));
}

async function findRequest(q: string, call: PageCall): Promise<Found[]> {
  const row = await requestNamed(q, call);
  return row === null ? [] : [{ ...row, path: `${workspacePath(row.workspace)}${row.path}` }];
}

async function findKeys(q: string, call: PageCall): Promise<Found[]> {
  const byId = /^key-[a-z2-7]{26}$/.test(q) ? await unlessUnknown(call.control(keyEndpoints.show, { id: q })) : null;
  const rows = byId === null ? (await call.control(keyEndpoints.list, { text: q, limit: String(foundMax) })).data : [byId];
  return rows.map(({ id, name, masked, owner, workspace_id: workspace }) => ({
    path: `${workspacePath(workspace)}/keys/${id}`,
    name,
    note: `${masked}, ${owner}`,
  }));
}
