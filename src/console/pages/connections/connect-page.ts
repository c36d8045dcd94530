/** Where the public page of a connector leads to: the reader chooses the workspace to connect. */
import { markup } from "../../../http/html.ts";
import { emptyState } from "../../look/states.ts";
import { userText } from "../../look/user-text.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { workspacePath } from "../../redirect.ts";
import { requireConnector } from "./connector.ts";

export const connectPage: Page = { of: "person", path: "/connect/:slug", navigation: null, roles: [], render };

async function render(call: PageCall): Promise<PageContent> {
  const { name, slug } = requireConnector(call.params["slug"] ?? "", call);
  const own = call.viewer.workspaces.filter(({ role }) => role === "admin" || role === "super_admin" || role === "operator");
  const links = own.map(
    (workspace) =>
      markup`<li><a href="${workspacePath(workspace.name)}/connections/new/${encodeURIComponent(slug)}">${userText(workspace.name)}</a></li>`,
  );
  const none = emptyState("Only admins connect vendors, and you are an admin in no workspace. Ask an admin of yours.", null);
  return {
    title: `Connect ${name}`,
    lead: own.length === 0 ? null : "Choose the workspace to connect.",
    main: own.length === 0 ? none : markup`<ul>${links}</ul>`,
  };
}
