/** What a page gets: its viewer, its address, and the control API with the viewer's rights. */
import { endpointAt, runEndpoint } from "../control-api/run-endpoint.ts";
import type { Turn } from "../accounts/quotas/fair-semaphore.ts";
import { formToken } from "../accounts/sessions/browser.ts";
import type { HereWorkspace, Page, PageCall, RefusedForm } from "./page.ts";
import { pages } from "./pages.ts";
import type { ConsoleParts } from "./parts.ts";
import type { Viewer } from "./viewer.ts";

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
    async control<View>(method: Parameters<PageCall["control"]>[0], path: string, input = {}, file?: Uint8Array): Promise<View> {
      const { endpoint, id } = endpointAt(method, path);
      const takesWorkspace = "workspace" in endpoint.fields.properties && workspace.id !== "";
      const fields = { ...(takesWorkspace && { workspace: workspace.id }), ...input };
      const pieces = async () => (file ? [file] : []);
      return (await runEndpoint(
        { principal: viewer.principal, endpoint, input: fields, id, request, file: pieces, turn },
        parts.control,
      )) as View;
    },
  };
}

function mayBeSeen({ roles }: Page, role: HereWorkspace["role"]): boolean {
  return role === "operator" || roles.includes(role);
}

/** The same call, for showing a form again. */
export function withRefusal(call: PageCall, refused: RefusedForm): PageCall {
  return { ...call, refused };
}
