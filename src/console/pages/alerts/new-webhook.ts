import type { NewAlertWebhookView } from "../../../accounts/alerts/webhooks.ts";
import { alertWebhookUrlCharactersMax } from "../../../accounts/limits.ts";
import type { FormFields } from "../../form.ts";
import { form } from "../../look/forms/form.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { shownSecret } from "./shown-secret.ts";

export const newAlertWebhookPage: Page = {
  of: "workspace",
  path: "/alerts/webhooks/new",
  navigation: null,
  roles: ["admin", "super_admin"],
  render,
  actions: { create },
};

async function render(call: PageCall): Promise<PageContent> {
  return {
    title: "Add a webhook",
    lead: "It gets every alert whose rule says webhooks, as a signed POST with JSON.",
    trail: [{ path: call.link("/alerts"), label: "Alerts" }],
    main: form({
      id: "new-webhook",
      action: call.path,
      hidden: hiddenFields(call, "create"),
      fields: [
        {
          kind: "url",
          name: "url",
          label: "Address",
          hint: "With https, a public host, and without a query. Redirects are not followed.",
          charactersMax: alertWebhookUrlCharactersMax,
          required: true,
        },
      ],
      state: formState(call, { action: "create" }),
      submit: "Add it",
      cancelPath: call.link("/alerts"),
    }),
  };
}

async function create(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const made = await call.control<NewAlertWebhookView>("POST", "/alert-webhooks", { url: typed.text("url") });
  return { show: shownSecret(made, call) };
}
