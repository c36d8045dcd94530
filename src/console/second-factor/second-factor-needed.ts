/** In place of an admin's pages, until their session has a second factor. Workspaces in which they are no admin stay open. */
import { lacksSecondFactor } from "../../accounts/members/principal.ts";
import { hasSecondFactor } from "../../accounts/second-factor/second-factor.ts";
import { markup, type Html } from "../../http/html.ts";
import { address } from "../look/forms/address.ts";
import { emptyForm, form } from "../look/forms/form.ts";
import { hiddenFields } from "../page-forms.ts";
import type { PageCall, PageContent } from "../page.ts";
import { signInFirst } from "../recent-sign-in.ts";
import { roleName } from "../role-name.ts";

/** null: the viewer needs none here. */
export async function secondFactorNeeded(call: PageCall): Promise<PageContent | null> {
  const { viewer, workspace, parts } = call;
  if (workspace.id === "") return null;
  if (!lacksSecondFactor(viewer.principal, { role: workspace.role, oidc: parts.control.oidc !== null })) return null;
  return {
    title: "A second factor is needed here",
    lead: `In ${workspace.name} you have the role ${roleName(workspace.role).toLowerCase()}, which takes a second factor: an app that shows one-time codes.`,
    main: await wayOn(call),
  };
}

async function wayOn(call: PageCall): Promise<Html> {
  const { viewer, path, parts } = call;
  if (await hasSecondFactor(viewer.email ?? "", parts.control.sql)) {
    const again = address("/console/sign-in", { again: "yes", next: path });
    return markup`<p>You signed in without the code of your app.</p><p><a class="button" href="${again}">Sign in with a code</a></p>`;
  }
  const hidden = hiddenFields(call, "set-up-second-factor", { next: path });
  const first = signInFirst(call, "set up a second factor");
  return (
    first ?? form({ id: "set-up", action: "/console/account", hidden, fields: [], state: emptyForm, submit: "Set up an app" })
  );
}
