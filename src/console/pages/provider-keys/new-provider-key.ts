/** Storing an own provider key: the form, as a dialog or a page of its own. */
import type { OwnKeyProvider } from "../../../gateway/own-keys/try-key.ts";
import type { OwnKeyView } from "../../../gateway/own-keys/schema.ts";
import { nameCharactersMax } from "../../../accounts/limits.ts";
import { providerFormMs } from "../../limits.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { FormFields } from "../../form.ts";
import type { Field } from "../../look/forms/field.ts";
import { form } from "../../look/forms/form.ts";
import { emptyState } from "../../look/states.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { signInFirst } from "../../recent-sign-in.ts";
import { reasonAgainstKeys } from "./own-key-rights.ts";

export const newProviderKeyPage: Page = {
  of: "workspace",
  path: "/provider-keys/new",
  navigation: null,
  roles: ["admin", "super_admin"],
  deadlineMs: providerFormMs,
  render,
  actions: { create: createProviderKey },
};

async function render(call: PageCall): Promise<PageContent> {
  const reason = await reasonAgainstKeys(call);
  const main = reason === null ? await newKeyForm(call, call.link("/provider-keys/new")) : markup`<p>${reason}</p>`;
  return { title: "Add a provider key", trail: [{ path: call.link("/provider-keys"), label: "Provider keys" }], main };
}

/** The key itself, which no page shows again, and a statement about its account. */
export const secretFields: readonly Field[] = [
  {
    kind: "password",
    name: "key",
    label: "Key",
    hint: "It is tested by a call of at most 16 tokens, which the provider bills, and stored sealed. No page shows it again.",
    required: true,
    autocomplete: "off",
  },
  {
    kind: "check",
    name: "zero_data_retention",
    label: "The provider keeps nothing under this key's account",
    hint: "Only by your own contract with the provider. Where the workspace requires zero data retention, the key serves only with this.",
  },
];

export async function newKeyForm(call: PageCall, action: string): Promise<Html> {
  const first = signInFirst(call, "add a provider key");
  if (first !== null) return first;
  const { data: providers } = await call.control<{ data: OwnKeyProvider[] }>("GET", "/providers");
  if (providers.length === 0)
    return emptyState("No provider can take a key yet: the operator has to check a provider’s terms first.", null);
  // None is chosen beforehand: a key must not reach another provider by mistake.
  const choices = [{ value: "", label: "Choose one" }, ...providers.map(({ id, name }) => ({ value: id, label: name }))];
  return form({
    id: "new-provider-key",
    action,
    hidden: hiddenFields(call, "create"),
    fields: [
      { kind: "choice", name: "provider", label: "Provider", choices, required: true },
      { kind: "text", name: "name", label: "Name", hint: "If empty: the provider's name.", charactersMax: nameCharactersMax },
      ...secretFields,
    ],
    state: formState(call, { action: "create" }),
    submit: "Test and store it",
    cancelPath: call.link("/provider-keys"),
  });
}

export async function createProviderKey(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const { provider } = await call.control<OwnKeyView>("POST", "/provider-keys", {
    provider: typed.text("provider"),
    name: typed.text("name"),
    key: typed.text("key"),
    zero_data_retention: typed.text("zero_data_retention") === "true",
  });
  return { goTo: call.link("/provider-keys"), said: `The key is stored. Calls of ${provider} run on it within 30 seconds.` };
}
