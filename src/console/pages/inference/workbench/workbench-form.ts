/**
 * The form of a request in the Workbench: the models that may be chosen, the conversation, and every parameter of a chat completion that
 * changes an answer, in folds. What is rare or only a label goes into one field as JSON. Images are not offered, since no model here takes
 * them. The script reads the fields by `data-parameter`, as their `data-kind` says, and notes which of them a chosen model does not take:
 * `data-needs` has the words of `supports` that open a field, from the table by which requests are checked.
 */
import { chatFields } from "../../../../gateway/api/request/chat-fields.ts";
import { factsOf } from "../../../../gateway/api/request/requested-model.ts";
import { temperatureMax } from "../../../../gateway/limits.ts";
import type { ModelDetails } from "../../../../gateway/models/listing.ts";
import { reasoningEfforts } from "../../../../gateway/models/model.ts";
import { markup, type Html } from "../../../../http/html.ts";
import { parseUsd } from "../../../../kernel/money.ts";
import { roundedUsd } from "../../../look/parts.ts";
import { shortTokens } from "../model-cells.ts";

// The models

export interface ChoosableModels {
  /** In the order of the catalog. */
  callable: ModelDetails[];
  /** Chat models that the workspace cannot call now, each with its reason. */
  others: ModelDetails[];
}

export function choosableModels(models: readonly ModelDetails[]): ChoosableModels {
  const chats = models.filter(({ kind }) => kind !== "embeddings");
  return { callable: chats.filter(({ runnable }) => runnable), others: chats.filter(({ runnable }) => !runnable) };
}

/** @param wanted the id of the chosen model; null: the first */
export function modelOptions({ callable, others }: ChoosableModels, wanted: string | null): Html {
  const group = (label: string, models: readonly ModelDetails[]): Html | null =>
    models.length === 0
      ? null
      : markup`<optgroup label="${label}">${models.map((model) => option(model, model.id === wanted))}</optgroup>`;
  return markup`${group("Callable", callable)}${group("Not callable now", others)}`;
}

function option(model: ModelDetails, isChosen: boolean): Html {
  const chosen = isChosen ? markup` selected` : null;
  const facts = model.runnable
    ? callableFacts(model)
    : markup` data-why="Not callable: ${model.unavailable_message ?? "no reason is known"}"`;
  return markup`<option value="${model.id}" data-name="${model.name}"${facts}${chosen}>${model.id}</option>`;
}

function callableFacts({
  prices_per_1m_usd: prices,
  context_length: context,
  supports,
  default_only: fixed,
}: ModelDetails): Html {
  const usd = (price: string): string => roundedUsd(parseUsd(price));
  const priced = prices === null ? null : markup` data-prices="${usd(prices.input)} in, ${usd(prices.output)} out per 1M"`;
  const length = context === null ? null : markup` data-context="${shortTokens(context)}"`;
  return markup`${priced}${length} data-takes="${supports.join(" ")}"${fixed.length === 0 ? null : markup` data-fixed="${fixed.join(" ")}"`}`;
}

// The conversation

export function promptForm(): Html {
  return markup`<section class="bench-prompt" aria-labelledby="bench-prompt">
    <h2 id="bench-prompt">Prompt</h2>
    <div class="field"><label for="bench-system">System <span class="optional">(optional)</span></label>
      <textarea id="bench-system" data-system rows="2" dir="auto" autocomplete="off"></textarea></div>
    <ol class="turns" role="list" data-messages aria-label="Messages">${turn()}</ol>
    <template data-turn>${turn()}</template>
    <p><button type="button" class="quiet small" data-add>Add a message</button></p>
    ${fold("Parameters", sampling)}${fold("Tools and form of the answer", toolsAndForm)}
  </section>`;
}

const authors: readonly (readonly [value: string, label: string])[] = [
  ["user", "User"],
  ["assistant", "Assistant"],
  // A call of a tool, its result, or any other message of the API.
  ["json", "As JSON"],
];

/** The script numbers the labels. */
function turn(): Html {
  return markup`<li class="turn">
    <select aria-label="Author of message 1" autocomplete="off">${authors.map(([value, label]) => markup`<option value="${value}">${label}</option>`)}</select>
    <textarea rows="3" aria-label="Message 1" dir="auto" autocomplete="off"></textarea>
    <button type="button" class="quiet small" data-remove aria-label="Remove message 1" disabled>Remove</button>
  </li>`;
}

// The parameters

interface Parameter {
  /** As the script names it. */
  name: string;
  /** The field of a chat completion; absent: the same. */
  field?: string;
  label: string;
  hint?: string;
  kind: "number" | "lines" | "choice" | "tools" | "schema" | "object" | "check";
  /** Of a number. */
  range?: { min?: number; max?: number; step: number };
  /** Of a choice; the empty one is the default. */
  choices?: readonly (readonly [value: string, label: string])[];
  example?: string;
}

const same = (words: readonly string[]) => words.map((word) => [word, word] as const);

const sampling: readonly Parameter[] = [
  { name: "temperature", label: "Temperature", kind: "number", range: { min: 0, max: temperatureMax, step: 0.1 } },
  { name: "max_tokens", label: "Max tokens", kind: "number", range: { min: 1, step: 1 } },
  { name: "top_p", label: "Top P", kind: "number", range: { min: 0, max: 1, step: 0.05 } },
  { name: "seed", label: "Seed", kind: "number", range: { step: 1 } },
  { name: "frequency_penalty", label: "Frequency penalty", kind: "number", range: { min: -2, max: 2, step: 0.1 } },
  { name: "presence_penalty", label: "Presence penalty", kind: "number", range: { min: -2, max: 2, step: 0.1 } },
  { name: "reasoning_effort", label: "Reasoning effort", kind: "choice", choices: same(reasoningEfforts) },
  { name: "verbosity", label: "Verbosity", kind: "choice", choices: same(["low", "medium", "high"]) },
  { name: "top_logprobs", label: "Top log probabilities", kind: "number", range: { min: 0, max: 20, step: 1 } },
  { name: "cache_control", label: "Cache the prompt", kind: "check" },
  { name: "stop", label: "Stop at", hint: "One text a line, at most four.", kind: "lines" },
];

const yesOrNo = [
  ["true", "Several at once"],
  ["false", "One at a time"],
] as const;

const toolsAndForm: readonly Parameter[] = [
  {
    name: "tools",
    label: "Tools",
    hint: "A JSON list, as a chat completion takes it.",
    kind: "tools",
    example: '[{"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}]',
  },
  {
    name: "choice",
    field: "tool_choice",
    label: "Tool choice",
    kind: "choice",
    choices: [
      ["auto", "As the model likes"],
      ["none", "No tool"],
      ["required", "Any tool, but one"],
    ],
  },
  { name: "parallel_tool_calls", label: "Tool calls", kind: "choice", choices: yesOrNo },
  {
    name: "format",
    field: "response_format",
    label: "Form of the answer",
    kind: "choice",
    choices: [
      ["json_object", "Any JSON object"],
      ["json_schema", "JSON by a schema"],
    ],
  },
  {
    name: "schema",
    field: "response_format",
    label: "JSON schema",
    hint: "For “JSON by a schema”.",
    kind: "schema",
    example:
      '{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false}',
  },
  {
    name: "other",
    field: "",
    label: "Other fields",
    hint: "A JSON object with further fields of a chat completion.",
    kind: "object",
    example: '{"metadata": {"test": "7"}, "logit_bias": {"50256": -100}}',
  },
];

/** The fields of a chat completion that have a place of their own in the form. */
export const formFields: ReadonlySet<string> = new Set(
  [...sampling, ...toolsAndForm].map(({ name, field = name }) => field).filter((field) => field !== ""),
);

/** What is set in it stands beside its title. */
function fold(title: string, parameters: readonly Parameter[]): Html {
  const rest = parameters === toolsAndForm ? strictChoice : null;
  return markup`<details class="bench-fold" data-fold><summary>${title} <span class="under" data-set></span></summary>
    <div class="bench-settings">${parameters.map(parameter)}${rest}</div>
  </details>`;
}

const strictChoice = markup`<label class="choice bench-wide"><input type="checkbox" data-strict checked autocomplete="off" /><span>The answer must follow the schema exactly</span></label>`;

function parameter(given: Parameter): Html {
  const { name, label, hint, kind } = given;
  const id = `bench-${name}`;
  const described = hint === undefined ? null : markup` aria-describedby="${id}-hint"`;
  const shared = markup`id="${id}" data-parameter="${name}" data-kind="${kind}" data-needs="${wordsFor(given)}"${described} autocomplete="off"`;
  const note = markup`<p class="hint bench-note" data-note="${name}"></p>`;
  if (kind === "check")
    return markup`<div class="field"><span class="choice"><input type="checkbox" ${shared} /><label for="${id}">${label}</label></span>${note}</div>`;
  const isWide = kind !== "number" && kind !== "choice";
  const words = hint === undefined ? null : markup`<p class="hint" id="${id}-hint">${hint}</p>`;
  return markup`<div class="field${isWide ? " bench-wide" : ""}"><label for="${id}">${label}</label>${words}${entry(given, shared)}${note}</div>`;
}

function entry({ kind, range = { step: 1 }, choices = [], example }: Parameter, shared: Html): Html {
  if (kind === "choice") {
    const options = choices.map(([value, label]) => markup`<option value="${value}">${label}</option>`);
    return markup`<select ${shared}><option value="">Default</option>${options}</select>`;
  }
  if (kind === "number") {
    const { min, max, step } = range;
    return markup`<input ${shared} type="number"${min === undefined ? null : markup` min="${min}"`}${max === undefined ? null : markup` max="${max}"`} step="${step}" inputmode="decimal" />`;
  }
  if (kind === "lines") return markup`<textarea ${shared} rows="2" dir="auto"></textarea>`;
  return markup`<textarea ${shared} class="code" rows="4" spellcheck="false" placeholder="${example ?? ""}"></textarea>`;
}

/** Words of `supports`, any of which opens the field; empty: every model takes it. */
function wordsFor({ name, field = name }: Parameter): string {
  if (field === "response_format") return name === "schema" ? "json_schema" : "json_object json_schema";
  const needs = chatFields.find((one) => one.name === field)?.needs;
  return needs === undefined ? "" : [needs, factsOf(needs).impliedBy ?? ""].join(" ").trim();
}
