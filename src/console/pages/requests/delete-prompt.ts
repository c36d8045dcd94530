/** Deleting the stored prompt of a request: the question, as a dialog or a page of its own. */
import type { GenerationDetail } from "../../../gateway/generations/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { dialog, opener } from "../../look/dialog.ts";
import { confirmForm } from "../../look/forms/form.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { signInFirst } from "../../recent-sign-in.ts";
import { requestPath } from "./request-columns.ts";

/** The dialog's form is sent here too. */
export const deletePromptPage: Page = {
  of: "workspace",
  path: "/requests/:id/delete-prompt",
  navigation: null,
  roles: ["admin", "super_admin"],
  render,
  actions: { "delete-prompt": deletePrompt },
};

/** The button and its dialog. Its place has said already whether a new sign-in is needed. */
export function deletePromptDialog(request: GenerationDetail, call: PageCall): Html {
  const path = call.link(`${requestPath(request)}/delete-prompt`);
  return markup`<p>${opener({ dialog: "delete-prompt", path, label: "Delete", quiet: true })}</p>
    ${dialog({ id: "delete-prompt", title: "Delete the stored prompt?", body: deleteForm(request, call), asks: null })}`;
}

async function render(call: PageCall): Promise<PageContent> {
  const request = await call.control<GenerationDetail>("GET", `/log/${encodeURIComponent(call.params["id"] ?? "")}`);
  return {
    title: "Delete the stored prompt?",
    lead: markup`<code>${request.generation_id}</code>`,
    trail: [
      { path: call.link("/requests"), label: "Requests" },
      { path: call.link(requestPath(request)), label: "Request" },
    ],
    main: request.prompt_stored
      ? markup`${signInFirst(call, "delete it") ?? deleteForm(request, call)}`
      : markup`<p>No prompt is stored of this request.</p>`,
  };
}

function deleteForm(request: GenerationDetail, call: PageCall): Html {
  return confirmForm({
    id: "delete-prompt",
    warning:
      "The prompt and its answer are deleted. This cannot be undone. The request stays in the log, with its tokens and its cost.",
    action: call.link(`${requestPath(request)}/delete-prompt`),
    hidden: hiddenFields(call, "delete-prompt"),
    state: formState(call, { action: "delete-prompt" }),
    submit: "Delete",
    cancelPath: call.link(requestPath(request)),
  });
}

async function deletePrompt(call: PageCall): Promise<ActionResult> {
  const id = call.params["id"] ?? "";
  await call.control("POST", "/prompts/delete", { id });
  return { goTo: call.link(requestPath({ generation_id: id })), said: "The prompt and its answer are deleted." };
}
