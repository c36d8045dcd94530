/** The Workbench: a conversation that the page sends to one model or two. The server keeps nothing of it, and sends only the page. */
import { markup } from "../../../http/html.ts";
import { asset } from "../../../http/page.ts";
import type { ModelRecord } from "../../../gateway/models/listing.ts";
import type { WorkspaceView } from "../../../accounts/workspaces/schema.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { conversation } from "./conversation.ts";
import { answerPanes } from "./answer-panes.ts";
import { conversationAsCode } from "./code-templates.ts";
import { choosableModels } from "./models.ts";

export const workbenchPage: Page = {
  of: "workspace",
  path: "/workbench",
  navigation: { section: "Inference", label: "Workbench", icon: "workbench" },
  roles: ["member", "admin", "super_admin"],
  scripts: [asset("script", [new URL("workbench.js", import.meta.url)])],
  render,
};

async function render(call: PageCall): Promise<PageContent> {
  const { id } = call.workspace;
  const [{ data }, { enabled }] = await Promise.all([
    call.control<{ data: ModelRecord[] }>("GET", "/models"),
    call.control<WorkspaceView>("GET", `/workspaces/${encodeURIComponent(id)}`),
  ]);
  const models = choosableModels(data);
  const why = whyNot(call, { enabled, callable: models.callable.length });
  const wanted = [call.query.get("model"), call.query.get("second")];
  return {
    title: "Workbench",
    lead: "Try models on the workspace's credit, without a key. What you write is kept only if the workspace stores prompts.",
    main: markup`${why === null ? null : markup`<p class="notice warn" role="status">${why}</p>`}
      <noscript><p class="notice warn">The Workbench needs JavaScript, as it shows answers while they arrive.</p></noscript>
      <div class="bench" data-workbench data-endpoint="/api/console/workbench?workspace=${encodeURIComponent(id)}"
        data-log="/api/console/log?workspace=${encodeURIComponent(id)}&limit=20" data-requests="${call.link("/requests/")}"${why === null ? null : markup` data-off`}>
        ${conversation()}${answerPanes(models, wanted)}
      </div>
      ${conversationAsCode(`${call.publicUrl}/gpt/v1`, call.link("/keys"))}`,
  };
}

/** Why no model can be called here; null: it can be tried. */
function whyNot({ viewer }: PageCall, { enabled, callable }: { enabled: boolean; callable: number }): string | null {
  if (viewer.email === null) return "The operator is no member of this workspace: sign in as a member to run a model.";
  if (!enabled) return "The inference API is switched off for this workspace. The operator can switch it on.";
  return callable > 0 ? null : "No model can be called at present. The page Models says what each one lacks.";
}
