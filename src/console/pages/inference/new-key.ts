/**
 * Creating a key: the form, as a dialog or a page of its own, and the key, which is shown once. The fields of its limits are those of the
 * form that changes a key.
 */
import type { NewKeyView, KeyView } from "../../../accounts/keys/schema.ts";
import { nameCharactersMax, requestsPerMinuteDefault, requestsPerMinuteMax } from "../../../accounts/limits.ts";
import type { GivenTo } from "../../../control-api/endpoint.ts";
import { keyEndpoints } from "../../../control-api/endpoints/keys.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { FormFields } from "../../form.ts";
import { form, type Field } from "../../look/forms.ts";
import { codeSamples, copyField, closeButton, dialog } from "../../look/parts.ts";
import { typedUsd, userText } from "../../look/values.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { samplesFor } from "./request-samples.ts";

export const newKeyPage: Page = {
  of: "workspace",
  path: "/keys/new",
  navigation: null,
  roles: ["member", "admin", "super_admin"],
  render,
  actions: { create: createKey },
};

async function render(call: PageCall): Promise<PageContent> {
  return {
    title: "Create key",
    trail: [{ path: call.link("/keys"), label: "Keys" }],
    main: newKeyForm(call, call.link("/keys/new")),
  };
}

/** null: the viewer may create a key; otherwise why not. */
export function mayCreate({ workspace: { role }, viewer }: PageCall, enabled: boolean): string | null {
  if (role === "auditor") return "Auditors are read-only: they create no keys.";
  if (viewer.email === null)
    return "A key belongs to a person. As the operator, create one for its owner by the command line: key create --owner.";
  if (!enabled) return "The platform is switched off for this workspace: keys can be created once the operator switches it on.";
  return null;
}

export function newKeyForm(call: PageCall, action: string): Html {
  return form({
    id: "new-key",
    action,
    hidden: hiddenFields(call, "create"),
    fields: [
      {
        kind: "radios",
        name: "kind",
        label: "It opens",
        choices: [
          { value: "inference", label: "The inference API", hint: "Models, at /gpt/v1." },
          { value: "tools", label: "The tools API and MCP", hint: "SBOMs, findings and tickets, at /api/tools and /mcp." },
        ],
      },
      ...limitFields,
    ],
    state: formState(call, { action: "create", values: { kind: "inference" } }),
    submit: "Create key",
    cancelPath: call.link("/keys"),
  });
}

export async function createKey(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const kind = typed.text("kind") === "tools" ? "tools" : "inference";
  const created = await call.control(keyEndpoints.create, { kind, ...limitsIn(typed, kind) });
  return { show: shownOnce(created, call) };
}

/** The only page that ever has the key. Its address shows the key masked, when it is loaded again. */
function shownOnce(created: NewKeyView, call: PageCall): PageContent {
  const { key, kind, name } = created;
  const samples =
    kind === "tools"
      ? null
      : codeSamples({ id: "first-call", legend: "A first request", samples: samplesFor({ publicUrl: call.publicUrl, key }) });
  const body = markup`<p>This is the only time that the key is shown. Store it now.</p>
    ${copyField({ id: "full-key", label: "Key", value: key })}${samples}${closeButton("I have stored it")}`;
  return {
    title: "Keys",
    main: markup`${dialog({ id: "created-key", title: `The key “${name}”`, body, asks: "always", opensAtOnce: true, thenPath: call.link("/keys") })}
      <p>The key ${userText(name)} is created.</p>
      <p class="actions"><a class="button" href="${call.link(`/keys/${created.id}`)}">See the key</a><a class="button quiet" href="${call.link("/keys")}">See all keys</a></p>`,
  };
}

// The form of a key, for creation and edit.

export const limitFields: readonly Field[] = [
  {
    kind: "text",
    name: "name",
    label: "Name",
    hint: "What it is for. If empty: “Untitled key”.",
    charactersMax: nameCharactersMax,
  },
  {
    kind: "money",
    name: "monthly_spend_limit_usd",
    label: "Monthly spend limit in USD",
    hint: "For each calendar month in UTC. If empty, the key has no limit of its own.",
  },
  {
    kind: "money",
    name: "daily_spend_limit_usd",
    label: "Daily spend limit in USD",
    hint: "For each day in UTC, besides the monthly limit. If empty, the key has none.",
  },
  {
    kind: "whole",
    name: "rate_limit_rpm",
    label: "Requests a minute",
    hint: `From 1 to ${requestsPerMinuteMax.toLocaleString("en-US")}. If empty: ${requestsPerMinuteDefault}.`,
  },
];

const spendLimits: readonly string[] = ["monthly_spend_limit_usd", "daily_spend_limit_usd"];

/** A key of the tools API spends nothing. */
export const toolsLimitFields = limitFields.filter(({ name }) => !spendLimits.includes(name));

/** The fields for the control API; what cannot be a number stays as it was typed, and is refused there by name. */
export function limitsIn(form: FormFields, kind: KeyView["kind"]): Omit<GivenTo<typeof keyEndpoints.edit>, "id" | "workspace"> {
  const requests = form.text("rate_limit_rpm");
  return {
    name: form.text("name"),
    ...(kind !== "tools" && {
      monthly_spend_limit_usd: form.text("monthly_spend_limit_usd") || null,
      daily_spend_limit_usd: form.text("daily_spend_limit_usd") || null,
    }),
    rate_limit_rpm: requests === "" ? null : /^\d{1,9}$/.test(requests) ? Number(requests) : requests,
  };
}

export function valuesOf({ name, rate_limit_rpm: requests, ...limits }: KeyView): Record<string, string> {
  return {
    name,
    monthly_spend_limit_usd: typedUsd(limits.monthly_spend_limit_usd),
    daily_spend_limit_usd: typedUsd(limits.daily_spend_limit_usd),
    rate_limit_rpm: requests === null ? "" : String(requests),
  };
}
