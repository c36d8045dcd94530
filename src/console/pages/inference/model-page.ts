/**
 * One model: whether it can be called and what it lacks, its routes, prices and limits, the fields that a request may have, and how to call
 * it. The error for an unknown id suggests the nearest one.
 */
import { modelEndpoints } from "../../../control-api/endpoints/models.ts";
import { chatFields, type ChatField } from "../../../gateway/api/request/chat-fields.ts";
import { factsOf } from "../../../gateway/api/request/requested-model.ts";
import type { ModelDetails, RouteDetails } from "../../../gateway/models/listing.ts";
import type { UnavailableReason } from "../../../gateway/models/model.ts";
import { markup, type Html } from "../../../http/html.ts";
import { formatUsd, nanoRoundedHalfUp, parsePricePerMillion, picoCost } from "../../../kernel/money.ts";
import { chartScript } from "../../look/charts.ts";
import { address } from "../../look/forms.ts";
import { thingPage, type ThingFacts } from "../../look/thing.ts";
import { codeSamples, facts, notice, section, table, type Column, money } from "../../look/parts.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { addingPath, providersPath } from "../operator/providers-page.ts";
import * as cells from "./model-cells.ts";
import { zoneScript } from "./day-zone.ts";
import { ofModels } from "./models-page.ts";
import { samplesFor } from "./request-samples.ts";
import { readUsageChart, usageAsked, usageChart } from "./usage-chart.ts";

export const modelPage: Page = {
  ...ofModels,
  path: "/models/*id",
  navigation: null,
  scripts: [zoneScript, chartScript],
  render,
};

async function render(call: PageCall): Promise<PageContent> {
  const { data } = await call.control(modelEndpoints.list, { id: call.params["id"] ?? "" });
  const [model] = data;
  if (!model) throw new Error("The control API found a model and gave none");
  return {
    title: model.name,
    trail: [{ path: call.link("/models"), label: "Models" }],
    badge: cells.stateBadge(model),
    actions: actions(model, call),
    main: markup`${lacking(model, call)}${thingPage({ facts: modelFacts(model), main: await modelParts(model, call) })}`,
  };
}

async function modelParts(model: ModelDetails, call: PageCall): Promise<Html> {
  return markup`${await modelChart(model, call)}
    ${section("prices", "Prices", prices(model))}
    ${model.routes.length === 0 ? null : section("routes", "Routes", routes(model.routes))}
    ${section("fields", "Fields of a request", model.kind === undefined ? requestFields(model) : vectors(model))}
    ${section("use", "Call it", samples(model, call))}`;
}

async function modelChart({ id }: ModelDetails, call: PageCall): Promise<Html> {
  const isOwn = call.workspace.role === "member";
  const groups = isOwn ? (["key", "provider"] as const) : (["key", "member", "provider"] as const);
  const asked = usageAsked(call, { usual: "30d", groups, only: { model: id } });
  return usageChart(call, { asked, view: await readUsageChart(call, asked), ...(isOwn && { whose: "Your " }) });
}

function actions(model: ModelDetails, call: PageCall): Html {
  const query = new URLSearchParams({ model: model.id });
  const workbench = markup`<a class="button" href="${call.link(`/workbench?${query}`)}">Open in Workbench</a>`;
  return markup`${cells.mayTry(call, model) ? workbench : null}<a class="button quiet" href="${call.link(cells.comparePath([model.id]))}">Compare</a>`;
}

/** What changes the state, where there is no page that does. */
const steps: Partial<Record<UnavailableReason, string>> = {
  request_access: "Ask the operator for it.",
  launch_check_missing: "The service tests it once automatically; then it can be called.",
  zero_data_retention_required: "An admin decides under Settings whether the workspace requires it.",
};

/** Why it cannot be called, who changes that, and the way there for those who may. */
function lacking(model: ModelDetails, call: PageCall): Html | null {
  const { unavailable_reason: reason, unavailable_message: message, routes } = model;
  if (reason === null || message === null) return null;
  const route = routes.find((one) => one.unavailable_reason === reason) ?? routes[0];
  const step = (route && providerStep(reason, route, call)) ?? steps[reason];
  return notice({ tone: "warn", words: markup`It cannot be called here now: ${message}. ${step ?? null}` });
}

/** What is to be done at its provider; null: nothing. */
function providerStep(reason: UnavailableReason, { provider, provider_name: name }: RouteDetails, call: PageCall): Html | null {
  const { operates } = call.viewer;
  const at = (path: string, words: string): Html => markup`<a href="${path}">${words}</a>`;
  const own = ownKeyPath(call, provider);
  switch (reason) {
    case "provider_not_configured": {
      const adding = operates
        ? markup`${at(addingPath(provider), `Add the key of ${name}`)}.`
        : markup`The operator adds the key of ${name}.`;
      return own === null ? adding : markup`${adding} Or ${at(own, "store the workspace’s own key")}.`;
    }
    case "terms_not_checked":
      return operates
        ? markup`${at(addingPath(provider), `Read the terms of ${name}`)}.`
        : markup`The operator reads the terms of ${name}.`;
    case "provider_disabled":
    case "launch_check_failed":
      return operates
        ? markup`${at(`${providersPath}/${provider}`, `See ${name}`)}.`
        : markup`The operator sees why, and changes it.`;
    default:
      return null;
  }
}

/** null: the viewer stores none. */
function ownKeyPath(call: PageCall, provider: string): string | null {
  return call.offers("/provider-keys/new") && call.workspace.role !== "operator"
    ? address(call.link("/provider-keys/new"), { provider })
    : null;
}

function modelFacts(model: ModelDetails): ThingFacts {
  const { max_output_tokens: answer, parameters } = model;
  return [
    ["Id", cells.idWithCopy(model.id)],
    ["Kind", model.kind ?? "chat"],
    ["Made by", model.owned_by],
    ["Context", cells.context(model)],
    ["Largest answer", answer === null ? null : cells.tokens(answer)],
    ["First token", cells.latency(model) ?? markup`<span class="none">not measured in the last day</span>`],
    ["Uptime", cells.uptime(model) ?? markup`<span class="none">not measured in the last day</span>`],
    ["Released", cells.released(model)],
    ...(parameters === undefined ? [] : [["Weights", parameters.toLocaleString("en-US")] as const]),
  ];
}

/** A request within the first tier of every model. */
const example = { input: 2_000, output: 500 };

function prices(model: ModelDetails): Html {
  const { prices_per_1m_usd: base, tiers = [], kind } = model;
  if (base === null) return markup`<p>It has no price yet, and cannot be called without one.</p>`;
  const rows = [{ above_input_tokens: 0, ...base }, ...tiers];
  const amount = (label: string, name: "input" | "output" | "cache_read" | "cache_write"): Column<(typeof rows)[number]> => ({
    label,
    kind: "money",
    cell: (row) => money(row[name]),
  });
  const cost =
    picoCost(example.input, parsePricePerMillion(base.input)) + picoCost(example.output, parsePricePerMillion(base.output));
  const words = markup`A request of ${example.input.toLocaleString("en-US")} tokens with an answer of ${example.output} costs ${money(formatUsd(nanoRoundedHalfUp(cost)))}.`;
  return markup`<p>In USD per 1M tokens, as the provider lists them; nothing is added. ${kind === undefined ? words : null}</p>
    ${table({
      caption: "Prices by the length of the request",
      columns: [
        {
          label: "Request",
          kind: "text",
          cell: ({ above_input_tokens: above }) =>
            above > 0
              ? markup`above ${cells.tokens(above)} tokens`
              : tiers[0]
                ? markup`up to ${cells.tokens(tiers[0].above_input_tokens)} tokens`
                : "of any length",
        },
        amount("Input", "input"),
        amount("Output", "output"),
        amount("Cache read", "cache_read"),
        amount("Cache write", "cache_write"),
      ],
      rows,
      empty: markup``,
    })}`;
}

function routes(rows: readonly RouteDetails[]): Html {
  return table<RouteDetails>({
    caption: "Routes, in order of preference",
    columns: [
      { label: "Provider", kind: "text", cell: ({ provider_name: name }) => name },
      { label: "Paid by", kind: "text", cell: ({ own_key: own }) => (own ? "the workspace's own key" : "credit") },
      { label: "Zero data retention", kind: "text", cell: ({ zero_data_retention: zero }) => (zero ? "yes" : "no") },
      { label: "Input", kind: "money", cell: (route) => cells.price(route, "input") },
      { label: "Output", kind: "money", cell: (route) => cells.price(route, "output") },
      { label: "First token", kind: "number", cell: cells.latency },
      { label: "Uptime", kind: "number", cell: cells.uptime },
      { label: "Availability", kind: "badge", cell: cells.routeState },
    ],
    rows,
    empty: markup``,
  });
}

function vectors({ dimensions, max_inputs: inputs, supports }: ModelDetails): Html {
  const allowed = dimensions?.allowed ?? null;
  const range = allowed === null ? "fixed" : "min" in allowed ? `${allowed.min} to ${allowed.max}` : allowed.join(", ");
  return facts([
    ["Numbers of a vector", dimensions?.default ?? null],
    ["dimensions may be", range],
    ["Inputs of one request", inputs ?? null],
    ["Supports", supports.length === 0 ? null : supports.join(", ")],
  ]);
}

function samples({ id, kind }: ModelDetails, call: PageCall): Html {
  const request = { publicUrl: call.publicUrl, key: "$WEIR_KEY", model: id, ...(kind && { kind }) };
  return codeSamples({ id: "sample", legend: "A request", samples: samplesFor(request) });
}

// Which fields a request to a chat model may have.

function requestFields(model: ModelDetails): Html {
  const served = chatFields.filter(({ accepts }) => accepts !== "nothing");
  const [open, refused] = [served.filter((field) => isOpen(field, model)), served.filter((field) => !isOpen(field, model))];
  return markup`<p>A request has <code>model</code> and <code>messages</code>, and may have the ${open.length} fields beneath.${named(
    "This model does not take",
    refused.map(({ name }) => name),
  )}${named("It takes only the default value of", model.default_only)}</p>
    <details><summary>The ${open.length} fields with their values</summary>
    ${table<ChatField>({
      caption: "Fields of a request",
      columns: [
        { label: "Field", kind: "text", cell: ({ name }) => markup`<code>${name}</code>` },
        { label: "Values", kind: "text", cell: ({ accepts }) => withCode(accepts) },
        { label: "Effect", kind: "text", cell: ({ effect }) => withCode(effect) },
      ],
      rows: open,
      empty: markup``,
    })}</details>`;
}

function isOpen({ needs }: ChatField, { supports }: ModelDetails): boolean {
  if (needs === undefined || supports.includes(needs)) return true;
  const { impliedBy } = factsOf(needs);
  return impliedBy !== undefined && supports.includes(impliedBy);
}

function named(words: string, names: readonly string[]): Html | null {
  if (names.length === 0) return null;
  return markup` ${words} ${names.map((name, index) => markup`${index === 0 ? "" : ", "}<code>${name}</code>`)}.`;
}

/** Shows text between backticks as code. */
function withCode(text: string): Html {
  return markup`${text.split("`").map((part, index) => (index % 2 === 1 ? markup`<code>${part}</code>` : markup`${part}`))}`;
}
