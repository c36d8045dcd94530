/**
 * One provider: its key and the operator's decisions, what its last test found, how it answered in the last day, which of its models can be
 * called, and how to test, replace, disable or remove it. While its models are checked, their states turn on the page by themselves.
 *
 * It lists no requests: those belong to the workspaces that pay for them, and their pages show them to people who may see them there.
 */
import { DomainError } from "../../../accounts/errors.ts";
import { modelEndpoints } from "../../../control-api/endpoints/models.ts";
import { providerEndpoints } from "../../../control-api/endpoints/providers.ts";
import { healthOfProviders, type ModelDetails, type RouteDetails } from "../../../gateway/models/listing.ts";
import type { ProviderView } from "../../../gateway/service-keys/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { outward } from "../../../http/page.ts";
import { providerFormMs } from "../../limits.ts";
import { actionButton, address, confirmForm } from "../../look/forms.ts";
import { badge, dialog, emptyState, notice, opener, section, table, tiles, time, userText } from "../../look/parts.ts";
import { thingPage } from "../../look/thing.ts";
import { hiddenFields, sentence, signInFirst } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { workspacePath } from "../../redirect.ts";
import { latency, price, uptime } from "../inference/model-cells.ts";
import { addingPath, fresh, freshBlock, freshScript, keyOf, progress, providerBadge, providersPath } from "./providers-page.ts";
import { healthBadge } from "./service-page.ts";

const providerPage: Page = {
  of: "operator",
  path: "/providers/:id",
  navigation: null,
  roles: [],
  deadlineMs: providerFormMs,
  scripts: [freshScript],
  render,
  actions: { test, disable, enable, remove },
};

const trail = [{ path: providersPath, label: "Providers" }];
const pathOf = ({ id }: Pick<ProviderView, "id">): string => `${providersPath}/${encodeURIComponent(id)}`;

/** @throws DomainError not_found */
async function findProvider(call: PageCall): Promise<ProviderView> {
  const { data } = await call.control(providerEndpoints.list);
  const provider = data.find(({ id }) => id === call.params["id"]);
  if (provider) return provider;
  throw new DomainError("not_found", "The catalog has no such provider");
}

async function render(call: PageCall): Promise<PageContent> {
  const provider = await findProvider(call);
  const { data: models } = await call.control(modelEndpoints.list);
  const served = models.flatMap((model) => {
    const route = model.routes.find((one) => one.provider === provider.id);
    return route === undefined ? [] : [{ model, route }];
  });
  return {
    title: provider.name,
    trail,
    badge: fresh("badge", providerBadge(provider)),
    actions: actions(provider, call),
    main: markup`${progress([provider])}${freshBlock("problem", problem(provider))}
      ${thingPage({
        facts: providerFacts(provider),
        main: markup`${answered(served)}${section("models", "Models", modelTable(served, call))}${endSection(provider, call)}`,
      })}`,
  };
}

function actions({ id, state, key }: ProviderView, call: PageCall): Html {
  const label = key === "none" ? "Add key" : key === "not_needed" ? "Read terms" : "Replace key";
  const isDecided = key === "not_needed" && state !== "terms";
  const adding = isDecided ? null : markup`<a class="button" href="${addingPath(id)}">${label}</a>`;
  const hasKey = key === "stored" || key === "environment";
  return markup`${adding}${hasKey ? actionButton({ action: call.path, label: "Test it", hidden: hiddenFields(call, "test") }) : null}`;
}

function problem({ problem: words }: ProviderView): Html | null {
  return words === null ? null : notice({ tone: "bad", words: sentence(words) });
}

/** The same figures as in the table of providers on Fleet. */
function answered(served: readonly Served[]): Html {
  const [health] = healthOfProviders(served.map(({ route }) => route));
  const none = markup`<span class="none">–</span>`;
  const shown = tiles([
    {
      label: "Answered",
      value: (health && uptime(health)) ?? none,
      note: health ? healthBadge(health.uptime_percent) : "no request in the last day",
    },
    {
      label: "First token",
      value: (health && latency(health)) ?? none,
      note: health ? "mean of its slowest model" : "not measured",
    },
    { label: "Models with requests", value: health?.models ?? 0, note: `of ${served.length}` },
  ]);
  const words = markup`Each figure is that of the worst model: a mean would hide one that fails. Workspaces list their own requests.`;
  return section("answered", "In the last day", markup`${shown}<p class="hint">${words}</p>`);
}

function providerFacts(provider: ProviderView): Parameters<typeof thingPage>[0]["facts"] {
  const { terms, terms_checked: read, subprocessor_listed: listed, own_keys: own, tested_at: tested } = provider;
  const link = terms === null ? null : markup` · ${outward(terms, markup`the terms`)}`;
  return [
    ["Key", keyOf(provider)],
    ["Tested", time(tested)],
    ["Terms", markup`${read ? "read, and requests may be forwarded" : "not read"}${link}`],
    ["List of subprocessors", listed ? "includes it" : "does not include it"],
    ["Workspaces’ own keys", own ? "possible" : "not possible until its terms are read"],
  ];
}

interface Served {
  model: ModelDetails;
  route: RouteDetails;
}

function modelTable(served: readonly Served[], call: PageCall): Html {
  const bench = benchOf(call);
  return table<Served>({
    caption: "Models that it could serve",
    columns: [
      {
        label: "Model",
        kind: "text",
        cell: ({ model }) => markup`${userText(model.name)}<span class="under">${userText(model.id)}</span>`,
      },
      { label: "Input", kind: "money", cell: ({ route }) => price(route, "input") },
      { label: "Output", kind: "money", cell: ({ route }) => price(route, "output") },
      { label: "Answered, first token", kind: "number", cell: ({ route }) => measuredCell(route) },
      {
        label: "State",
        kind: "badge",
        cell: ({ model, route }) =>
          fresh(`model-${model.id}`, markup`${routeBadge(route)}${route.runnable ? tryLink(model, bench) : null}`),
      },
    ],
    rows: served,
    empty: emptyState("The catalog has no model of this provider.", null),
  });
}

function measuredCell(route: RouteDetails): Html | null {
  const share = uptime(route);
  return share === null ? null : markup`${share}<span class="under">${latency(route) ?? "not timed"}</span>`;
}

/** The Workbench of a workspace in which the viewer is a member too; null: there is none. */
function benchOf({ viewer }: PageCall): string | null {
  const [home] = viewer.session.email === null ? [] : viewer.workspaces;
  return home === undefined ? null : `${workspacePath(home.name)}/workbench`;
}

function tryLink({ id }: ModelDetails, bench: string | null): Html | null {
  return bench === null ? null : markup` <a href="${address(bench, { model: id })}" aria-label="Try ${id}">Try it</a>`;
}

function routeBadge({
  runnable,
  unavailable_reason: reason,
  unavailable_message: message,
  check_error: code,
}: RouteDetails): Html {
  if (runnable) return badge("good", "callable");
  if (reason === "launch_check_missing") return badge("warn", "checking");
  if (reason === "launch_check_failed")
    return markup`${badge("bad", "failed its check")}${code === null ? null : markup`<span class="under"><code>${code}</code></span>`}`;
  // The badge beside the provider's name says this of all its models.
  const words = reason === "provider_not_configured" ? null : message;
  return markup`${badge("neutral", "not callable")}${words === null ? null : markup`<span class="under">${words}</span>`}`;
}

function endSection(provider: ProviderView, call: PageCall): Html {
  const isOff = provider.state === "disabled";
  const words = isOff
    ? "A disabled provider is not called. Its key and the decisions are kept."
    : "A disabled provider is not called, not even with workspaces’ own keys; calls under way end. Removing it also deletes its stored key: the catalog’s files and the environment then decide.";
  const switching = actionButton({
    action: call.path,
    label: isOff ? "Enable" : "Disable",
    what: provider.name,
    hidden: hiddenFields(call, isOff ? "enable" : "disable"),
  });
  const removing = opener({ dialog: "remove", path: `${pathOf(provider)}/remove`, label: "Remove", quiet: true });
  const asked = dialog({ id: "remove", title: `Remove ${provider.name}?`, body: removeForm(provider, call), asks: null });
  const buttons = markup`<div class="form-end">${switching}${removing}</div>${asked}`;
  return section("end", "Stop using it", markup`<p class="hint">${words}</p>${buttons}`);
}

async function test(call: PageCall): Promise<ActionResult> {
  const { id } = await findProvider(call);
  const { ok, message } = await call.control(providerEndpoints.test, { id });
  return { goTo: call.path, said: sentence(message), warns: !ok };
}

async function disable(call: PageCall): Promise<ActionResult> {
  const { name } = await call.control(providerEndpoints.disable, { id: call.params["id"] ?? "" });
  return { goTo: call.path, said: `${name} is disabled: it is no longer called.` };
}

async function enable(call: PageCall): Promise<ActionResult> {
  const { name } = await call.control(providerEndpoints.enable, { id: call.params["id"] ?? "" });
  return { goTo: call.path, said: `${name} is enabled.` };
}

// Removing: the confirmation, as a dialog or a separate page

/** For browsers without script, where the dialog cannot open. */
const removeProviderPage: Page = {
  of: "operator",
  path: "/providers/:id/remove",
  navigation: null,
  roles: [],
  render: renderRemove,
  actions: { remove },
};

async function renderRemove(call: PageCall): Promise<PageContent> {
  const provider = await findProvider(call);
  const above = [...trail, { path: pathOf(provider), label: provider.name }];
  return { title: `Remove ${provider.name}?`, trail: above, main: removeForm(provider, call) };
}

function removeForm(provider: ProviderView, call: PageCall): Html {
  const path = pathOf(provider);
  const first = signInFirst({ ...call, path }, "remove the provider");
  if (first !== null) return first;
  const key =
    provider.key === "stored"
      ? markup`The key <code>${provider.masked ?? "…"}</code> is deleted, which cannot be undone. `
      : null;
  return confirmForm({
    id: "remove",
    warning: markup`${key}Its ${provider.callable} callable models stop at once, unless the catalog’s files and the environment allow them.`,
    action: path,
    hidden: hiddenFields(call, "remove"),
    submit: "Remove",
    cancelPath: path,
  });
}

async function remove(call: PageCall): Promise<ActionResult> {
  const { name } = await call.control(providerEndpoints.remove, { id: call.params["id"] ?? "" });
  return { goTo: providersPath, said: `${name} is removed.` };
}

/** In the order in which addresses are matched. */
export const providerPages = [providerPage, removeProviderPage];
