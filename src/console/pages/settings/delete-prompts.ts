/** Deleting the stored prompts of before a day: the question, as a dialog or a page of its own. */
import type { PromptCount, PromptsDeleted } from "../../../gateway/prompts/prompts.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { promptDeletionMsMax } from "../../../control-api/limits.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { FormFields } from "../../form.ts";
import { pageDeadlineMs } from "../../limits.ts";
import { dialog, opener } from "../../look/dialog.ts";
import { form } from "../../look/forms/form.ts";
import { time } from "../../look/time.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { signInFirst } from "../../recent-sign-in.ts";

const path = "/settings/delete-prompts";

/** The dialog's form is sent here too. */
export const deletePromptsPage: Page = {
  of: "workspace",
  path,
  navigation: null,
  roles: ["admin", "super_admin"],
  // Millions are deleted in batches. What a broken off deletion left, the next one deletes.
  deadlineMs: promptDeletionMsMax + pageDeadlineMs,
  render,
  actions: { "delete-prompts": deletePrompts },
};

/** How many prompts are stored, and since when. */
export function countWords({ count, more, oldest_at: oldest }: PromptCount): Html {
  if (oldest === null) return markup`No prompt is stored.`;
  if (more) return markup`More than ${count.toLocaleString("en-US")} prompts are stored, the oldest from ${time(oldest)}.`;
  if (count === 1) return markup`One prompt is stored, from ${time(oldest)}.`;
  return markup`${count.toLocaleString("en-US")} prompts are stored, the oldest from ${time(oldest)}.`;
}

/** The button and its dialog. Its place has said already whether a new sign-in is needed. */
export function deletePromptsDialog(stored: PromptCount, call: PageCall): Html {
  const body = deleteForm(stored, call);
  return markup`<p>${opener({ dialog: "delete-prompts", path: call.link(path), label: "Delete all before…", quiet: true })}</p>
    ${dialog({ id: "delete-prompts", title: "Delete stored prompts", body, asks: null })}`;
}

async function render(call: PageCall): Promise<PageContent> {
  const stored = await call.control<PromptCount>("GET", "/prompts");
  return {
    title: "Delete stored prompts",
    trail: [{ path: call.link("/settings"), label: "Settings" }],
    main: markup`${signInFirst(call, "delete them") ?? deleteForm(stored, call)}`,
  };
}

function deleteForm(stored: PromptCount, call: PageCall): Html {
  return markup`<p class="warning">The prompts and answers of all requests before the day are deleted. This cannot be undone. The requests stay in the log.</p>
    <p>${countWords(stored)}</p>
    ${form({
      id: "delete-prompts",
      action: call.link(path),
      hidden: hiddenFields(call, "delete-prompts"),
      fields: [
        {
          kind: "date",
          name: "before",
          label: "Delete all before",
          hint: "Days begin at 00:00 UTC. A day after today deletes all.",
          required: true,
        },
      ],
      state: formState(call, { action: "delete-prompts" }),
      submit: "Delete",
      tone: "bad",
      cancelPath: call.link("/settings"),
    })}`;
}

async function deletePrompts(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const day = typed.text("before");
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) {
    const message = `Cannot delete prompts before "${day.slice(0, 40)}": a day such as 2026-11-20 is needed`;
    throw new DomainError("invalid_field", message, { field: "before" });
  }
  const { deleted } = await call.control<PromptsDeleted>("POST", "/prompts/delete", { before: `${day}T00:00:00Z` });
  const count = deleted === 1 ? "1 stored prompt" : `${deleted.toLocaleString("en-US")} stored prompts`;
  return { goTo: call.link("/settings"), said: `${count} of requests before ${day} ${deleted === 1 ? "is" : "are"} deleted.` };
}
