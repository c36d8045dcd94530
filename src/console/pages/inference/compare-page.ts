/**
 * Up to four models side by side. The address holds their ids, so that a comparison can be shared. A mistyped id is replaced by the nearest
 * one, and the page says so.
 */
import { nearestModel } from "../../../gateway/models/availability.ts";
import type { ModelDetails } from "../../../gateway/models/listing.ts";
import { markup, type Html } from "../../../http/html.ts";
import { modelsComparedMax } from "../../limits.ts";
import { emptyState, notice, table, type Column, userText, type Content } from "../../look/parts.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { comparePath, context, latency, modelPath, price, released, state, tokens, uptime } from "./model-cells.ts";
import { allModels, ofModels } from "./models-page.ts";

export const compareModelsPage: Page = { ...ofModels, path: "/models/compare", navigation: null, render };

const idCharactersMax = 200;

async function render(call: PageCall): Promise<PageContent> {
  const { data } = await allModels(call);
  const { chosen, ...corrected } = chosenModels(call.query.getAll("id"), data);
  const shown = chosen.slice(0, modelsComparedMax);
  return {
    title: "Compare models",
    lead: "Prices are the providers’ own, in USD per 1M tokens.",
    trail: [{ path: call.link("/models"), label: "Models" }],
    main: markup`${problems({ ...corrected, left: chosen.length - shown.length })}
      ${shown.length === 0 ? emptyState("Select two to four models in the list.", toList(call)) : comparison(shown, call)}
      ${shown.length < modelsComparedMax ? addForm(shown, call) : null}`,
  };
}

function toList(call: PageCall): Html {
  return markup`<a class="button" href="${call.link("/models")}">See the models</a>`;
}

/** A mistyped id is replaced by the nearest one. Ids in the query may occur twice. */
function chosenModels(ids: readonly string[], models: readonly ModelDetails[]) {
  const chosen = new Set<ModelDetails>();
  const meant: { typed: string; model: ModelDetails }[] = [];
  const unknown: string[] = [];
  for (const typed of ids
    .map((id) => id.trim().slice(0, idCharactersMax))
    .filter((id) => id !== "")
    .slice(0, 20)) {
    const exact = models.find(({ id }) => id === typed);
    const near = exact ? null : nearestModel(typed, published(models));
    const model = exact ?? models.find(({ id }) => id === near);
    if (!model) unknown.push(typed);
    else if (!exact) meant.push({ typed, model });
    if (model) chosen.add(model);
  }
  return { chosen: [...chosen], meant, unknown };
}

/** All listed models are published. */
function published(models: readonly ModelDetails[]): { id: string; published: boolean }[] {
  return models.map(({ id }) => ({ id, published: true }));
}

interface Corrected {
  meant: readonly { typed: string; model: ModelDetails }[];
  unknown: readonly string[];
  /** How many checked models are left out of the comparison. */
  left: number;
}

function problems({ meant, unknown, left }: Corrected): Html {
  const none = (typed: string): Html => markup`There is no model with the id ${userText(typed)}.`;
  const missing = unknown.map((typed) => notice({ tone: "bad", words: none(typed) }));
  const nearest = meant.map(({ typed, model }) =>
    notice({ tone: "warn", words: markup`${none(typed)} The nearest is shown: ${userText(model.id)}.` }),
  );
  const words = `Only ${modelsComparedMax} are compared: ${left} of the checked models are left out.`;
  return markup`${missing}${nearest}${left === 0 ? null : notice({ tone: "warn", words })}`;
}

interface Row {
  label: string;
  cell: (model: ModelDetails) => Content | null;
}

const rows: readonly Row[] = [
  { label: "Availability", cell: state },
  {
    label: "Provider",
    cell: ({ routes, provider }) => userText(routes.map((route) => route.provider_name).join(", ") || provider),
  },
  { label: "Kind", cell: ({ kind }) => kind ?? "chat" },
  { label: "Input", cell: (model) => price(model, "input") },
  { label: "Output", cell: (model) => price(model, "output") },
  { label: "Cache read", cell: (model) => price(model, "cache_read") },
  { label: "Cache write", cell: (model) => price(model, "cache_write") },
  { label: "Context", cell: context },
  { label: "Largest answer", cell: ({ max_output_tokens: count }) => (count === null ? null : tokens(count)) },
  { label: "First token", cell: latency },
  { label: "Uptime", cell: uptime },
  { label: "Released", cell: released },
  { label: "Supports", cell: ({ supports }) => (supports.length === 0 ? null : supports.join(", ")) },
];

function comparison(shown: readonly ModelDetails[], call: PageCall): Html {
  const links: Row = {
    label: "Model",
    cell: (model) => markup`<a href="${call.link(modelPath(model))}">${userText(model.id)}</a>`,
  };
  const leave: Row = {
    label: "Remove",
    cell: ({ id, name }) => {
      const others = shown.filter((one) => one.id !== id).map((one) => one.id);
      return markup`<a href="${call.link(comparePath(others))}">Remove<span class="unseen"> ${name}</span></a>`;
    },
  };
  const columns: Column<Row>[] = [
    { label: "Property", kind: "text", cell: ({ label }) => label },
    ...shown.map((model): Column<Row> => ({ label: model.name, kind: "text", cell: ({ cell }) => cell(model) })),
  ];
  return table({ caption: "The models side by side", columns, rows: [links, ...rows, leave], empty: markup`` });
}

function addForm(shown: readonly ModelDetails[], call: PageCall): Html {
  return markup`<form class="filters" method="get" action="${call.link("/models/compare")}">
    ${shown.map(({ id }) => markup`<input type="hidden" name="id" value="${id}" />`)}
    <p><label for="add-model">Add a model, by its id</label><input id="add-model" name="id" type="search" maxlength="${idCharactersMax}" autocomplete="off" spellcheck="false" /></p>
    <p><button type="submit" class="quiet">Add</button></p>
  </form>`;
}
