import type { NewAlertWebhookView } from "../../../accounts/alerts/webhooks.ts";
import { markup } from "../../../http/html.ts";
import { copyField } from "../../look/copy.ts";
import { closeButton, dialog } from "../../look/dialog.ts";
import { userText } from "../../look/user-text.ts";
import type { PageCall, PageContent } from "../../page.ts";

/** The only page that ever has the secret. */
export function shownSecret({ id, url, secret }: NewAlertWebhookView, call: PageCall): PageContent {
  const path = call.link(`/alerts/webhooks/${encodeURIComponent(id)}`);
  const body = markup`<p>This is the only time that the secret is shown. The receiver verifies with it that an alert comes from here.</p>
    ${copyField({ id: "webhook-secret", label: "Secret", value: secret })}${closeButton("I have stored it")}`;
  return {
    title: "Alerts",
    main: markup`${dialog({ id: "made-secret", title: "The secret of the webhook", body, asks: "always", opensAtOnce: true, thenPath: path })}
      <p>The webhook ${userText(url)} has a new secret.</p>
      <p class="actions"><a class="button" href="${path}">See the webhook</a></p>`,
  };
}
