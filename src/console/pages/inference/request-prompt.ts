/**
 * A stored prompt with its answer, as text, and its deletion. Nothing of it is taken for markup, images and files are named by their type
 * alone, and long texts are shortened. Each view is in the audit log.
 */
import { logEndpoints, promptEndpoints } from "../../../control-api/endpoints/log.ts";
import type { GenerationDetail } from "../../../gateway/generations/schema.ts";
import type { PromptView } from "../../../gateway/prompts/prompts.ts";
import { markup, type Html } from "../../../http/html.ts";
import { isJsonObject } from "../../../http/json.ts";
import { confirmForm } from "../../look/forms.ts";
import { dialog, opener } from "../../look/parts.ts";
import { formState, hiddenFields, signInFirst } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { requestPath } from "./request-columns.ts";

/** Characters of one message; a prompt may have megabytes. */
const charactersMax = 20_000;
const messagesMax = 200;

export function promptContents({ messages, answer, answer_cut: isCut, generation_id: id }: PromptView): Html {
  const newest = messages.slice(-messagesMax);
  const left = messages.length - newest.length;
  const isShortened =
    left > 0 || [...newest, answer].some((message) => message !== null && textOf(message).length > charactersMax);
  return markup`${isShortened ? markup`<p class="under">Long texts are shortened here. The whole is in <code>weir prompt show --id ${id}</code>.</p>` : null}
    ${left > 0 ? markup`<p class="under">${left} earlier messages are left out.</p>` : null}
    ${newest.map((message, index) => shown(message, { name: `${left + index + 1}. ${roleOf(message)}`, id: `message-${index}` }))}
    ${answer === null ? markup`<p>No answer is stored.</p>` : shown(answer, { name: "The answer", id: "answer" })}
    ${isCut ? markup`<p class="under">The answer was longer than what is stored of it.</p>` : null}`;
}

type Message = PromptView["messages"][number];

function shown(message: Message, { name, id }: { name: string; id: string }): Html {
  const text = textOf(message);
  const part = text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
  return markup`<h3 id="${id}">${name}</h3><pre tabindex="0" role="region" aria-labelledby="${id}" class="prose" dir="auto">${part === "" ? "(empty)" : part}</pre>`;
}

function roleOf({ role }: Message): string {
  return typeof role === "string" ? role : "message";
}

/** The text, then everything else as JSON. */
function textOf({ content, role: _role, ...others }: Message): string {
  const rest = Object.entries(others).filter(([, value]) => value !== null);
  return [contentText(content), ...rest.map(([name, value]) => `${name}: ${JSON.stringify(value, null, 2)}`)]
    .filter((text) => text !== "")
    .join("\n\n");
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map(partText).join("\n");
}

function partText(part: unknown): string {
  if (!isJsonObject(part)) return "";
  if (typeof part["text"] === "string") return part["text"];
  return `[${String(part["type"])}]`;
}

// Deleting the stored prompt of a request: the question, as a dialog or a page of its own.

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
  const request = await call.control(logEndpoints.show, { id: call.params["id"] ?? "" });
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
  await call.control(promptEndpoints.delete, { id });
  return { goTo: call.link(requestPath({ generation_id: id })), said: "The prompt and its answer are deleted." };
}
