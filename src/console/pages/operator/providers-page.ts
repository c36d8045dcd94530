/**
 * The service's providers: the state of each, and the dialog that adds one or replaces its key. A provider's address (`?add=openai`) opens the
 * dialog, so that a model's page can lead to it, and so that it works without a script. States and counts that change by themselves while
 * models are checked are marked: a small script brings them up to date, and without it the page says to load it again.
 */
import { DomainError } from "../../../accounts/errors.ts";
import { providerEndpoints } from "../../../control-api/endpoints/providers.ts";
import type { ProviderState, ProviderView } from "../../../gateway/service-keys/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { monogram } from "../../../http/monogram.ts";
import { asset } from "../../../http/page.ts";
import { providerFormMs } from "../../limits.ts";
import { type Field, form, address } from "../../look/forms.ts";
import { arrangedList } from "../../look/list-view.ts";
import { badge, dialog, emptyState, notice, tabs, time, userText, type Tone } from "../../look/parts.ts";
import { formState, hiddenFields, signInFirst } from "../../page-forms.ts";
import type { ActionResult, FormFields, Page, PageCall, PageContent } from "../../page.ts";

export const providersPath = "/console/operator/providers";

/** The page with the dialog for one provider. @param own only for workspaces' own keys, so without a key of the service */
export function addingPath(provider: string, { own = false } = {}): string {
  return address(providersPath, { add: provider, own: own ? "yes" : undefined });
}

/** Brings what `fresh` marks up to date, on the list and on the page of one provider. */
export const freshScript = asset("script", [new URL("providers.js", import.meta.url)]);

export const providersPage: Page = {
  of: "operator",
  path: "/providers",
  navigation: { section: "Operator", label: "Providers", icon: "provider" },
  roles: [],
  deadlineMs: providerFormMs,
  scripts: [freshScript],
  render,
  actions: { add },
};

async function render(call: PageCall): Promise<PageContent> {
  const { data: providers } = await call.control(providerEndpoints.list);
  const shown = views.find(({ name }) => name === call.query.get("show")) ?? views[0];
  const { table, view, kept } = list(providers.filter(shown.shows), call);
  return {
    title: "Providers",
    lead: "With a provider’s key its models can be called in every workspace. Keys are sealed, and no page shows one again.",
    actions: view,
    main: markup`${progress(providers)}${viewTabs(providers, { shown, kept }, call)}
      ${table}${addDialog(providers, call)}`,
  };
}

interface View {
  name: string;
  label: string;
  shows(provider: ProviderView): boolean;
}

const hasState = (...states: ProviderState[]): View["shows"] => {
  return ({ state }) => states.includes(state);
};

/** The first one is shown unless another is chosen. */
const views: readonly [View, ...View[]] = [
  { name: "all", label: "All", shows: () => true },
  { name: "used", label: "In use", shows: hasState("checking", "callable") },
  { name: "attention", label: "Need attention", shows: (provider) => needsAttention(provider) },
  {
    name: "unused",
    label: "Not in use",
    shows: (provider) => hasState("no_key", "disabled")(provider) && provider.problem === null,
  },
];

/** It has a key, and none of its models can be called, or its last test found a problem. */
function needsAttention({ state, problem }: ProviderView): boolean {
  return state === "terms" || state === "failing" || state === "refused" || (problem !== null && state !== "disabled");
}

function viewTabs(
  providers: readonly ProviderView[],
  { shown, kept }: { shown: View; kept: Record<string, string> },
  { path }: PageCall,
): Html {
  const all = views.map((view) => ({
    path: address(path, { ...kept, show: view.name === "all" ? undefined : view.name }),
    label: view.label,
    count: providers.filter(view.shows).length,
    current: view === shown,
  }));
  return tabs("Providers by state", all);
}

function list(rows: readonly ProviderView[], call: PageCall) {
  return arrangedList<ProviderView>(
    {
      caption: "Providers",
      columns: [
        {
          name: "provider",
          label: "Provider",
          kind: "text",
          by: ({ name }) => name,
          cell: ({ id, name }) => markup`${monogram(name)} <a href="${providersPath}/${id}">${userText(name)}</a>`,
        },
        { name: "state", label: "State", kind: "badge", cell: stateCell, by: ({ state }) => statePlaces.indexOf(state) },
        { name: "models", label: "Models", kind: "number", cell: ({ models }) => models, by: ({ models }) => models },
        {
          name: "callable",
          label: "Callable models",
          kind: "number",
          cell: ({ callable }) => callable,
          by: ({ callable }) => callable,
          isExtra: true,
        },
        { name: "key", label: "Key", kind: "text", cell: keyOf, by: ({ key }) => key },
        {
          name: "tested",
          label: "Tested",
          kind: "time",
          cell: ({ tested_at: at }) => time(at),
          by: ({ tested_at: at }) => at,
          isExtra: true,
        },
        { label: "Next step", kind: "actions", cell: nextStep },
      ],
      rows,
      empty: emptyState("No provider is in this state.", null),
      isWhole: true,
      order: "in order of the catalog",
    },
    call,
  );
}

/** What needs the operator first. */
const statePlaces: readonly ProviderState[] = ["refused", "failing", "terms", "checking", "callable", "no_key", "disabled"];

function stateCell(provider: ProviderView): Html {
  return fresh(
    `state-${provider.id}`,
    markup`${providerBadge(provider)}${provider.problem === null ? null : markup`<span class="under">${userText(provider.problem)}.</span>`}`,
  );
}

function nextStep({ id, name, state, key }: ProviderView): Html | null {
  const words = state === "no_key" ? "Add key" : state === "terms" ? "Read terms" : state === "refused" ? "Replace key" : null;
  if (words === null || (words === "Replace key" && key === "not_needed")) return null;
  return markup`<a class="button quiet small" href="${addingPath(id)}">${words}<span class="unseen"> of ${name}</span></a>`;
}

async function add(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const id = typed.text("provider");
  const key = typed.text("key");
  const acts = { terms_checked: ticked(typed, "terms_checked"), subprocessor_listed: ticked(typed, "subprocessor_listed") };
  const added = await call.control(providerEndpoints.add, { id, ...(key !== "" && { key }), ...acts });
  return { goTo: `${providersPath}/${added.id}`, said: addedWords(added, key !== "") };
}

/** @throws DomainError invalid_field, in words for those who have the box before them */
function ticked(typed: FormFields, field: string): true {
  if (typed.text(field) === "true") return true;
  throw new DomainError("invalid_field", "Tick this once it is so: nothing was tested or stored", { field });
}

function addedWords({ name, key, checking, callable }: ProviderView, withKey: boolean): string {
  if (key === "none") return `Workspaces may store their own keys of ${name}.`;
  const first = withKey ? `${name} accepted the key` : `${name} may be used`;
  if (checking === 0) return `${first}: ${count(callable)} can be called.`;
  return `${first}. ${count(checking)} ${checking === 1 ? "is" : "are"} being checked, and can then be called.`;
}

// The dialog that adds a provider, or replaces its key

function addDialog(providers: readonly ProviderView[], call: PageCall): Html | null {
  const refused = call.refused?.action === "add" ? call.refused.form.text("provider") : null;
  const provider = providers.find(({ id }) => id === (refused ?? call.query.get("add")));
  if (provider === undefined) return null;
  const hasKey = provider.key === "stored" || provider.key === "environment";
  const own = (call.refused?.action === "add" ? call.refused.form.text("own") : call.query.get("own")) === "yes";
  const title = own
    ? `Allow own keys of ${provider.name}`
    : hasKey
      ? `Replace the key of ${provider.name}`
      : `Add ${provider.name}`;
  const body = signInFirst({ ...call, path: addingPath(provider.id) }, "add a provider") ?? addForm(provider, own, call);
  return dialog({ id: "add-provider", title, body, asks: "changes", opensAtOnce: true, thenPath: providersPath });
}

function addForm(provider: ProviderView, own: boolean, call: PageCall): Html {
  const { id, name, terms_checked: read, subprocessor_listed: listed } = provider;
  return form({
    id: "add-provider",
    action: providersPath,
    hidden: hiddenFields(call, "add", { provider: id, ...(own && { own: "yes" }) }),
    fields: [...(own ? [] : keyFields(provider)), ...actFields(provider)],
    state: formState(call, {
      action: "add",
      values: { terms_checked: read ? "true" : "", subprocessor_listed: listed ? "true" : "" },
      same: (sent) => sent.text("provider") === id,
    }),
    submit: own ? "Allow own keys" : provider.key === "not_needed" ? `Add ${name}` : "Test and add",
    cancelPath: providersPath,
  });
}

function keyFields({ name, key, key_variable: variable }: ProviderView): Field[] {
  if (key === "not_needed") return [];
  const kept =
    key === "stored" ? "Empty: the stored key stays. " : key === "environment" ? `Empty: the key in ${variable} stays. ` : "";
  return [
    {
      kind: "password",
      name: "key",
      label: `${name} API key`,
      hint: `${kept}It is tried by the provider’s list of models, or else by one call of at most 16 tokens.`,
      required: key === "none",
      autocomplete: "off",
    },
  ];
}

function actFields({ name, terms }: ProviderView): Field[] {
  const link = terms === null ? markup`The catalog names no page of them.` : inNewTab(terms, `Terms of ${name}`);
  return [
    {
      kind: "check",
      name: "terms_checked",
      label: "I have read the provider’s terms, and they let this service forward requests to it",
      hint: link,
      required: true,
    },
    {
      kind: "check",
      name: "subprocessor_listed",
      label: "Our customers find the provider in our list of subprocessors",
      hint: markup`Requests are passed on to it: ${inNewTab("https://eur-lex.europa.eu/eli/reg/2016/679/oj", "GDPR, article 28")} asks for the customers’ consent.`,
      required: true,
    },
  ];
}

/** In a new tab, since a typed key would be lost in this one. */
function inNewTab(url: string, words: string): Html {
  return markup`<a href="${url}" target="_blank" rel="noopener noreferrer" class="outward">${words}<span class="unseen"> in a new tab</span></a>`;
}

// What the list and the page of one provider share

const tones: Record<ProviderState, Tone> = {
  no_key: "neutral",
  terms: "warn",
  checking: "warn",
  callable: "good",
  failing: "bad",
  refused: "bad",
  disabled: "neutral",
};

export function providerBadge({ state, callable, checking }: ProviderView): Html {
  const words: Record<ProviderState, string> = {
    no_key: "no key",
    terms: "terms not read",
    checking: callable === 0 ? `checking ${checking}` : `${callable} callable, checking ${checking}`,
    callable: `${count(callable)} callable`,
    failing: "no model answers",
    refused: "refused by the provider",
    disabled: "disabled",
  };
  return badge(tones[state], words[state]);
}

function count(models: number): string {
  return `${models} ${models === 1 ? "model" : "models"}`;
}

/** Where its key comes from. */
export function keyOf({ key, masked, key_variable: variable }: ProviderView): Html | null {
  if (key === "stored") return markup`<code>${masked ?? "…"}</code>`;
  if (key === "environment") return markup`<code>${variable ?? ""}</code><span class="under">in the environment</span>`;
  return key === "not_needed" ? markup`needs none` : null;
}

/** The same for a paragraph, or none. */
export function freshBlock(name: string, contents: Html | null): Html {
  return markup`<div data-fresh="${name}">${contents}</div>`;
}

/** Marks words that the script brings up to date. @param name unique on its page, and the same each time */
export function fresh(name: string, contents: Html): Html {
  return markup`<span data-fresh="${name}">${contents}</span>`;
}

/** What is being checked, and how the page follows it; empty once all is. */
export function progress(providers: readonly ProviderView[]): Html {
  const checking = providers.reduce((sum, { state, checking: some }) => sum + (state === "checking" ? some : 0), 0);
  if (checking === 0) return freshBlock("progress", null);
  const words = markup`${count(checking)} ${checking === 1 ? "is" : "are"} being checked: each gets one call of at most 16 tokens, and can then be called.
    <noscript>Load this page again to see which.</noscript>`;
  return freshBlock("progress", markup`<span data-checking></span>${notice({ tone: "neutral", words })}`);
}
