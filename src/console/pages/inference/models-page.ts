/**
 * All models of the catalog, and whether this workspace may call them: its settings, own keys and early access decide. The filters are in
 * the address, and the checkboxes in the rows lead to a comparison. The file has the filtered models.
 */
import { modelEndpoints } from "../../../control-api/endpoints/models.ts";
import type { ModelDetails } from "../../../gateway/models/listing.ts";
import type { CsvFile } from "../../../http/csv-response.ts";
import { markup, type Html } from "../../../http/html.ts";
import { modelsComparedMax, modelsShownMax } from "../../limits.ts";
import { address } from "../../look/forms.ts";
import { emptyState, notice, cursorLinks, table, type Column, userText } from "../../look/parts.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { addingPath } from "../operator/providers-page.ts";
import { modelFilters, modelQuery, type ModelQuery, findModels, nearestModels } from "./find-models.ts";
import { context, latency, modelPath, shortPrice, state, uptime } from "./model-cells.ts";

/** What the pages of models share. */
export const ofModels = {
  of: "workspace",
  roles: ["member", "auditor", "admin", "super_admin"],
  earlyAccess: "models_page",
} as const;

export const modelsPage: Page = {
  ...ofModels,
  path: "/models",
  navigation: { section: "Inference", label: "Models", icon: "models" },
  reference: "inference",
  render,
  csv,
};

/** The id of the form that compares; its checkboxes are in the rows. */
const comparing = "compare-models";

export function allModels(call: PageCall): Promise<{ data: ModelDetails[] }> {
  return call.control(modelEndpoints.list);
}

async function render(call: PageCall): Promise<PageContent> {
  const { data: models } = await allModels(call);
  const query = modelQuery(call.query);
  const found = findModels(models, query.wanted);
  return {
    title: "Models",
    lead: leadOf(models),
    actions: found.length === 0 ? null : markup`<a class="button quiet" href="${csvPath(call, query)}">CSV</a>`,
    main:
      models.length === 0
        ? emptyState("The catalog of models cannot be read right now. The operator sees why under Fleet.", null)
        : markup`${modelFilters(call.link("/models"), query, models)}${query.problem === null ? null : notice({ tone: "bad", words: query.problem })}
          ${found.length === 0 ? nothingFound(query, { call, models }) : list(found, { call, query })}`,
  };
}

function leadOf(models: readonly ModelDetails[]): string {
  const callable = models.filter(({ runnable }) => runnable).length;
  return `${callable} of ${models.length} models can be called in this workspace now. Prices are the providers’ own, in USD per 1M tokens; those of long requests can be higher. First token and uptime are measured on this service’s traffic of the last day.`;
}

function csvPath(call: PageCall, { given }: ModelQuery): string {
  return address(call.link("/models"), { ...given, as: "csv" });
}

interface Around {
  call: PageCall;
  query: ModelQuery;
}

function list(found: readonly ModelDetails[], { call, query }: Around): Html {
  const pagesMax = Math.ceil(found.length / modelsShownMax);
  const page = Math.min(query.page, pagesMax);
  const from = (page - 1) * modelsShownMax;
  const rows = found.slice(from, from + modelsShownMax);
  const pathOf = (number: number): string =>
    address(call.link("/models"), { ...query.given, page: number === 1 ? undefined : String(number) });
  const counted = `${from + 1} to ${from + rows.length} of ${found.length} models`;
  return markup`<form id="${comparing}" method="get" action="${call.link("/models/compare")}"></form>
    ${table({ caption: counted, captioned: true, columns: columns(call), rows, empty: markup`` })}
    <p class="compares"><button type="submit" form="${comparing}" class="quiet">Compare the checked models</button> <span class="hint">Up to ${modelsComparedMax}.</span></p>
    ${cursorLinks({ shown: counted, firstPath: page > 1 ? pathOf(1) : null, nextPath: page < pagesMax ? pathOf(page + 1) : null })}`;
}

function columns(call: PageCall): Column<ModelDetails>[] {
  return [
    { label: "Model", kind: "text", cell: (model) => nameOf(model, call) },
    { label: "Provider", kind: "text", cell: ({ routes, provider }) => providerWords(routes, provider) },
    { label: "Context", kind: "number", cell: context },
    { label: "Input", kind: "money", cell: (model) => shortPrice(model, "input") },
    { label: "Output", kind: "money", cell: (model) => shortPrice(model, "output") },
    { label: "First token", kind: "number", cell: latency },
    { label: "Uptime", kind: "number", cell: uptime },
    { label: "Availability", kind: "badge", cell: (model) => markup`${state(model)}${wayToKey(model, call)}` },
    { label: "Compare", kind: "badge", cell: compareBox },
  ];
}

/** Only the operator adds a provider. */
function wayToKey({ unavailable_reason: reason, routes: [route] }: ModelDetails, call: PageCall): Html | null {
  const isMissing = reason === "provider_not_configured" || reason === "terms_not_checked";
  if (!isMissing || route === undefined || call.workspace.role !== "operator") return null;
  const words = reason === "terms_not_checked" ? "Read terms" : "Add key";
  return markup`<span class="under"><a href="${addingPath(route.provider)}">${words}<span class="unseen"> of ${route.provider_name}</span></a></span>`;
}

function compareBox({ id, name }: ModelDetails): Html {
  return markup`<label class="choice"><input type="checkbox" name="id" value="${id}" form="${comparing}" autocomplete="off" /><span class="unseen">Compare ${name}</span></label>`;
}

function nameOf(model: ModelDetails, call: PageCall): Html {
  const kind = model.kind === undefined ? null : markup` · ${model.kind}`;
  return markup`<a href="${call.link(modelPath(model))}">${userText(model.name)}</a><span class="under">${userText(model.id)}${kind}</span>`;
}

function providerWords(routes: ModelDetails["routes"], provider: string): Html {
  const [first] = routes;
  const others = routes.length > 1 ? markup`<span class="under">and ${routes.length - 1} more</span>` : null;
  return markup`${userText(first?.provider_name ?? provider)}${others}`;
}

function nothingFound(
  { wanted, given }: ModelQuery,
  { call, models }: { call: PageCall; models: readonly ModelDetails[] },
): Html {
  const near = given.q === "" ? [] : nearestModels(given.q, models);
  const links = near.map(
    (model, index) => markup`${index === 0 ? "" : ", "}<a href="${call.link(modelPath(model))}">${userText(model.name)}</a>`,
  );
  const meant = near.length === 0 ? null : markup` Did you mean ${links}?`;
  const clear = markup`<a class="button quiet" href="${call.link("/models")}">Show all models</a>`;
  return emptyState(
    markup`No model ${wanted.words === "" ? "is like this" : markup`is called ${userText(wanted.words)}`}.${meant}`,
    clear,
  );
}

async function csv(call: PageCall): Promise<CsvFile> {
  const { data } = await allModels(call);
  const names = [
    "id",
    "name",
    "provider",
    "kind",
    "context_length",
    "max_output_tokens",
    "input_per_1m_usd",
    "output_per_1m_usd",
    "latency_ms",
    "uptime_percent",
    "runnable",
    "unavailable_reason",
  ];
  const rows = findModels(data, modelQuery(call.query).wanted).map((model) => [
    model.id,
    model.name,
    model.provider,
    model.kind ?? "chat",
    model.context_length,
    model.max_output_tokens,
    model.prices_per_1m_usd?.input ?? null,
    model.prices_per_1m_usd?.output ?? null,
    model.latency_ms,
    model.uptime_percent,
    String(model.runnable),
    model.unavailable_reason,
  ]);
  return { name: `models-${call.workspace.name}`, columns: names, rows };
}
