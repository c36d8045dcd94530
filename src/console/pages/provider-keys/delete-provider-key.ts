/** Deleting an own provider key: the question, as a dialog or a page of its own. */
import type { OwnKeyDeleted, OwnKeyView } from "../../../gateway/own-keys/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { confirmForm } from "../../look/forms/form.ts";
import { userText } from "../../look/user-text.ts";
import { hiddenFields } from "../../page-forms.ts";
import type { ActionResult, PageCall } from "../../page.ts";
import { signInFirst } from "../../recent-sign-in.ts";

export function deleteKeyForm({ id, name, masked, provider }: OwnKeyView, call: PageCall): Html {
  const first = signInFirst(call, "delete the key");
  if (first !== null) return first;
  const path = call.link(`/provider-keys/${encodeURIComponent(id)}`);
  return confirmForm({
    id: "delete",
    warning: markup`The key ${userText(name ?? provider)} (<code>${masked ?? "…"}</code>) is deleted, which cannot be undone. From then on ${userText(provider)} is called with the service's key, on the workspace's credit.`,
    action: path,
    hidden: hiddenFields(call, "delete"),
    submit: "Delete",
    cancelPath: path,
  });
}

export async function deleteKey(call: PageCall): Promise<ActionResult> {
  await call.control<OwnKeyDeleted>("DELETE", `/provider-keys/${encodeURIComponent(call.params["id"] ?? "")}`);
  return { goTo: call.link("/provider-keys"), said: "The provider key is deleted." };
}
