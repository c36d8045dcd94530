/**
 * One request: how it ended, what it cost and why, how long it took, and its stored prompt with the answer. If it failed, the page begins
 * with what that means and what to do. The computation runs from token counts to the amount in the ledger, with twelve decimals, and is left
 * out if the catalog's current prices do not yield it; a cost of zero is folded away. The prompt is read only on demand, and each view is in
 * the audit log. None of it is treated as markup, images and files are shown by type only, and long texts are shortened.
 */
import { managers } from "../../../accounts/audit/actor.ts";
import { logEndpoints, promptEndpoints } from "../../../control-api/endpoints/log.ts";
import { pageFields, type PageName } from "../../../gateway/generation-fields.ts";
import type { GenerationDetail, PriceLine } from "../../../gateway/generations/schema.ts";
import type { PromptView } from "../../../gateway/prompts/prompts.ts";
import { markup, type Html } from "../../../http/html.ts";
import { isJsonObject } from "../../../http/json.ts";
import { parseUsd } from "../../../kernel/money.ts";
import { actionButton, emptyForm, form, confirmForm } from "../../look/forms.ts";
import { facts, section, table, time, userText, type Content, money, dialog, opener } from "../../look/parts.ts";
import { thingPage, type ThingFacts } from "../../look/thing.ts";
import { hiddenFields, sentence, signInFirst, formState } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { requestReaders, shareLink } from "../share-link.ts";
import { problemBox } from "./problem-box.ts";
import { callerName, duration, requestBadge, requestPath } from "./request-columns.ts";

export const requestPage: Page = {
  of: "workspace",
  path: "/requests/:id",
  navigation: null,
  roles: ["member", "auditor", "admin", "super_admin"],
  render: async (call) => content(await requestOf(call), call, null),
  actions: { prompt: showPrompt },
};

function requestOf(call: PageCall): Promise<GenerationDetail> {
  return call.control(logEndpoints.show, { id: call.params["id"] ?? "" });
}

/** @param prompt null: it was not requested */
function content(request: GenerationDetail, call: PageCall, prompt: PromptView | null): PageContent {
  return {
    title: "Request",
    badge: requestBadge(request),
    lead: markup`<code>${request.generation_id}</code>`,
    trail: [{ path: call.link("/requests"), label: "Requests" }],
    actions: shareLink(call, {
      path: `/requests/${request.generation_id}`,
      readers: requestReaders(call, request.member ?? null),
    }),
    main: markup`${problemOf(request, call)}${thingPage({
      facts: about(request, call),
      main: markup`${isFree(request) ? freePrice(request) : section("price", "What it cost", priceSection(request))}
        ${section("times", "How long it took", times(request))}
        ${section("headers", "Headers of the answer", headers(request))}
        ${section("prompt", "The stored prompt", prompt === null ? promptSection(request, call) : shownPrompt(prompt, request, call))}`,
    })}`,
  };
}

const endings: Record<GenerationDetail["outcome"], string | null> = {
  settled: null,
  unknown: "Its gateway died before the end was known. It is charged nothing.",
  expired: "Its gateway died, and its reservation ran out. It is charged nothing.",
};

/** null: it did not fail. */
function problemOf(request: GenerationDetail, call: PageCall): Html | null {
  const { status, code, key_id: key, model, message } = request;
  if (status < 400 && code === null) return null;
  const called = calledProviders(request);
  const cause = message === null ? called : markup`${userText(sentence(message))} ${called}`;
  return problemBox({ status, code: code ?? "", cause, key, model, retryAfterMs: null }, call);
}

/** The providers that were called, as far as the log has them; null: none was. */
function calledProviders({ attempts = [], provider }: GenerationDetail): Html | null {
  if (attempts.length === 0)
    return provider === "none" ? null : markup`The provider that was called last is ${userText(provider)}.`;
  const calls = attempts.map(
    ({ provider: called, code, ms }, index) =>
      markup`${index === 0 ? "" : ", then "}${userText(called)} (<code>${code ?? "answered"}</code> after ${duration(ms)})`,
  );
  return markup`Called ${calls}.`;
}

function isFree({
  cost_usd: cost,
  uncharged_usd: uncharged,
  list_cost_usd: list,
  exact_cost_usd: exact,
}: GenerationDetail): boolean {
  return parseUsd(cost) === 0n && parseUsd(uncharged) === 0n && list === null && /^[0.]+$/.test(exact);
}

/** There is nothing to explain, unless someone asks. */
function freePrice(request: GenerationDetail): Html {
  return markup`<details class="folded"><summary>It cost nothing</summary>${priceSection(request)}</details>`;
}

/** The fields that have a label for this page. Those without a form here are shown as in a list. */
function about(request: GenerationDetail, call: PageCall): ThingFacts {
  const values: Record<string, unknown> = request;
  return pageFields.flatMap(({ field, label, view }) => {
    const form = forms[field];
    const value = form === undefined ? plain(values[view ?? ""]) : form(request, call);
    return value === undefined ? [] : [[label, value] as const];
  });
}

/** undefined: it is left out. */
type Form = (request: GenerationDetail, call: PageCall) => Content | null | undefined;

const forms: Partial<Record<string, Form>> = {
  admittedAt: ({ at }) => time(at, { seconds: true }),
  key: (request, call) =>
    request.key_id === null
      ? callerName(request)
      : markup`<a href="${call.link(`/keys/${request.key_id}`)}">${callerName(request)}</a>`,
  endpoint: ({ endpoint, streamed }) => `${endpoint}${streamed ? ", streamed" : ""}`,
  model: ({ model }) => markup`<code>${userText(model)}</code>`,
  requestedModel: ({ requested_model: requested }) =>
    requested === undefined ? undefined : markup`<code>${userText(requested)}</code>`,
  provider: ({ provider, own_key: own }) => (own ? `${provider}, with the workspace's own key` : provider),
  code: ({ code }) => (code === null ? undefined : markup`<code>${code}</code>`),
  outcome: ({ outcome }) => endings[outcome] ?? undefined,
  promptTokens: tokensIn,
  completionTokens: tokensOut,
} satisfies Partial<Record<PageName, Form>>;

function plain(value: unknown): Content | null | undefined {
  if (value === undefined || value === null) return value;
  return typeof value === "number" ? count(value) : String(value);
}

function tokensIn({
  prompt_tokens: all,
  cached_tokens: cached,
  cache_write_tokens: written,
  usage_estimated: estimated,
}: GenerationDetail): string {
  const parts = [
    cached > 0 ? `${count(cached)} read from a cache` : "",
    written > 0 ? `${count(written)} written to a cache` : "",
    estimated ? "counted by the gateway" : "",
  ];
  return [count(all), ...parts.filter((part) => part !== "")].join(", ");
}

function tokensOut({ completion_tokens: all, reasoning_tokens: reasoning }: GenerationDetail): string {
  return reasoning > 0 ? `${count(all)}, ${count(reasoning)} of them reasoning` : count(all);
}

function count(tokens: number): string {
  return tokens.toLocaleString("en-US");
}

function times({ first_token_ms: first, duration_ms: total, attempts = [] }: GenerationDetail): Html {
  const whole = facts([
    ["To the first text of the answer", first === null ? "there was no text" : duration(first)],
    ["To the end", duration(total)],
  ]);
  const calls = table({
    caption: "Calls of providers, in order",
    captioned: true,
    columns: [
      { label: "Provider", kind: "text", cell: ({ provider }) => provider },
      { label: "Model", kind: "text", cell: ({ model }) => markup`<code>${userText(model)}</code>` },
      { label: "Key", kind: "text", cell: ({ own_key: own }) => (own ? "own" : "the service's") },
      { label: "Result", kind: "text", cell: ({ code }) => (code === null ? "answered" : markup`<code>${code}</code>`) },
      { label: "Took", kind: "number", cell: ({ ms }) => duration(ms) },
    ],
    rows: attempts,
    empty: markup``,
  });
  return markup`${whole}${calls}`;
}

/** Only the stored headers; the others describe the rate limit at that moment. */
function headers({
  generation_id: generation,
  request_id: id,
  provider,
  model,
  own_key: own,
  status,
  attempts,
}: GenerationDetail): Html {
  const route: [string, Content][] =
    attempts === undefined || status >= 400
      ? []
      : [["X-Route", markup`<code>${userText(`${provider}/${model}${own ? "; key=own" : ""}`)}</code>`]];
  return facts([["X-Generation-Id", markup`<code>${generation}</code>`], ["X-Request-Id", markup`<code>${id}</code>`], ...route]);
}

function promptSection(request: GenerationDetail, call: PageCall): Html {
  const { role } = call.workspace;
  if (!request.prompt_stored)
    return markup`<p>No prompt is stored for this request: only metadata is kept unless an admin turns prompt storage on, and stored prompts can be deleted.</p>`;
  if (role !== "operator" && !managers.includes(role))
    return markup`<p>The prompt and the answer are stored. Admins of the workspace can read them, and each view is recorded in the audit log.</p>`;
  const ask = form({
    id: "prompt",
    action: call.path,
    hidden: hiddenFields(call, "prompt"),
    fields: [],
    state: emptyForm,
    submit: "Show the prompt and record that I did",
  });
  return markup`<p>The prompt and the answer are stored. Each view is recorded in the audit log with your name.</p>${signInFirst(call, "read or delete them") ?? markup`<div class="actions">${ask}${againButton(request, call)}${deletePromptDialog(request, call)}</div>`}`;
}

function shownPrompt(prompt: PromptView, request: GenerationDetail, call: PageCall): Html {
  return markup`${promptContents(prompt)}<div class="actions">${againButton(request, call)}${deletePromptDialog(request, call)}</div>`;
}

/** Reads the prompt into the Workbench; null: the viewer may not run a model. */
function againButton({ generation_id: generation }: GenerationDetail, call: PageCall): Html | null {
  if (call.workspace.role === "operator") return null;
  const hidden = hiddenFields(call, "again", { generation });
  return actionButton({ action: call.link("/workbench"), label: "Same request again, recorded as a view", hidden });
}

async function showPrompt(call: PageCall): Promise<ActionResult> {
  const request = await requestOf(call);
  const prompt = await call.control(promptEndpoints.show, { id: request.generation_id });
  return { show: content(request, call, prompt) };
}

// The computation of a charge, from token counts to the amount in the ledger.

const parts: Record<PriceLine["part"], string> = {
  input: "Tokens in",
  cache_read: "Tokens in, read from a cache",
  cache_write: "Tokens in, written to a cache",
  output: "Tokens out",
};

function priceSection(request: GenerationDetail): Html {
  const { price_lines: lines, tier_above_tokens: tier } = request;
  const tierWords =
    tier === null
      ? null
      : markup`<p>The prompt has more than ${tier.toLocaleString("en-US")} tokens, so that the prices of this tier apply to the whole request.</p>`;
  return markup`${tierWords}${lines === null ? unknownPrices(request) : computation(lines)}${charge(request)}`;
}

function unknownPrices({ exact_cost_usd: exact, list_cost_usd: list }: GenerationDetail): Html {
  if (list === null && /^[0.]+$/.test(exact)) return markup`<p>Nothing was counted that has a price.</p>`;
  return markup`<p>The catalog's current prices do not give this cost: they have changed since, or the model left the catalog.</p>`;
}

function computation(lines: readonly PriceLine[]): Html {
  return table<PriceLine>({
    caption: "Computation of the cost",
    columns: [
      { label: "Part", kind: "text", cell: ({ part }) => parts[part] },
      { label: "Tokens", kind: "number", cell: ({ tokens }) => tokens.toLocaleString("en-US") },
      { label: "USD for a million", kind: "number", cell: ({ usd_per_million: price }) => price },
      { label: "USD", kind: "number", cell: ({ exact_usd: exact }) => exact },
    ],
    rows: lines,
    empty: markup``,
  });
}

/** Twelve decimals. */
function sumOf(lines: readonly PriceLine[]): string {
  const pico = lines.reduce((sum, { exact_usd: exact }) => sum + BigInt(exact.replace(".", "")), 0n);
  const digits = pico.toString().padStart(13, "0");
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`;
}

type Fact = readonly [name: string, value: Content];

function charge(request: GenerationDetail): Html {
  const { own_key: own, cost_usd: cost, uncharged_usd: uncharged, reserved_usd: reserved } = request;
  const above: Fact[] = parseUsd(uncharged) === 0n ? [] : [["Above the reserved amount, not charged", exactly(uncharged)]];
  const name = own ? "Charged: the provider bills its own key" : "Charged";
  const charged: Fact = [name, markup`<b>${exactly(cost)}</b> (${money(cost)})`];
  return facts([...exactCost(request), ...above, ["Reserved before the call", exactly(reserved)], charged]);
}

/** A call with an own key is charged nothing, so its lines add up to what it would have cost. */
function exactCost({ list_cost_usd: list, price_lines: lines, exact_cost_usd: exact }: GenerationDetail): Fact[] {
  if (list === null) return [["Exact cost", exactly(exact)]];
  const sum: Fact[] = lines === null ? [] : [["Exact, at list prices", exactly(sumOf(lines))]];
  return [...sum, ["At list prices", exactly(list)]];
}

function exactly(usd: string): Html {
  return markup`<span class="money">${usd} USD</span>`;
}

// A stored prompt with its answer, as text, and its deletion.

/** Characters of one message; a prompt may have megabytes. */
const charactersMax = 20_000;
const messagesMax = 200;

function promptContents({ messages, parameters, answer, answer_cut: isCut, generation_id: id }: PromptView): Html {
  const newest = messages.slice(-messagesMax);
  const left = messages.length - newest.length;
  const isShortened =
    left > 0 || [...newest, answer].some((message) => message !== null && textOf(message).length > charactersMax);
  return markup`${isShortened ? markup`<p class="under">Long texts are shortened here. The full text is in <code>weir prompt show --id ${id}</code>.</p>` : null}
    ${left > 0 ? markup`<p class="under">${left} earlier messages are left out.</p>` : null}
    ${newest.map((message, index) => shown(message, { name: `${left + index + 1}. ${roleOf(message)}`, id: `message-${index}` }))}
    ${Object.keys(parameters).length === 0 ? null : shown(parameters, { name: "Parameters", id: "parameters" })}
    ${answer === null ? markup`<p>No answer is stored.</p>` : shown(answer, { name: "The answer", id: "answer" })}
    ${isCut ? markup`<p class="under">The answer was too long to be stored in full.</p>` : null}`;
}

type Message = PromptView["messages"][number];

function shown(message: Message, { name, id }: { name: string; id: string }): Html {
  const text = textOf(message);
  const part = text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
  return markup`<h3 id="${id}">${name}</h3><pre tabindex="0" role="region" aria-labelledby="${id}" class="prose" dir="auto">${part === "" ? "(empty)" : part}</pre>`;
}

function roleOf({ role }: Message): string {
  return typeof role === "string" ? role : "message";
}

/** The text, then everything else as JSON. */
function textOf({ content, role: _role, ...others }: Message): string {
  const rest = Object.entries(others).filter(([, value]) => value !== null);
  return [contentText(content), ...rest.map(([name, value]) => `${name}: ${JSON.stringify(value, null, 2)}`)]
    .filter((text) => text !== "")
    .join("\n\n");
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map(partText).join("\n");
}

function partText(part: unknown): string {
  if (!isJsonObject(part)) return "";
  if (typeof part["text"] === "string") return part["text"];
  return `[${String(part["type"])}]`;
}

// Deleting the stored prompt of a request: the confirmation, as a dialog or a separate page.

/** The dialog's form is sent here too. */
export const deletePromptPage: Page = {
  of: "workspace",
  path: "/requests/:id/delete-prompt",
  navigation: null,
  roles: ["admin", "super_admin"],
  render,
  actions: { "delete-prompt": deletePrompt },
};

/** The button and its dialog. Callers check beforehand whether a new sign-in is needed. */
function deletePromptDialog(request: GenerationDetail, call: PageCall): Html {
  const path = call.link(`${requestPath(request)}/delete-prompt`);
  return markup`${opener({ dialog: "delete-prompt", path, label: "Delete", quiet: true })}
    ${dialog({ id: "delete-prompt", title: "Delete the stored prompt?", body: deleteForm(request, call), asks: null })}`;
}

async function render(call: PageCall): Promise<PageContent> {
  const request = await call.control(logEndpoints.show, { id: call.params["id"] ?? "" });
  return {
    title: "Delete the stored prompt?",
    lead: markup`<code>${request.generation_id}</code>`,
    trail: [
      { path: call.link("/requests"), label: "Requests" },
      { path: call.link(requestPath(request)), label: "Request" },
    ],
    main: request.prompt_stored
      ? markup`${signInFirst(call, "delete it") ?? deleteForm(request, call)}`
      : markup`<p>No prompt is stored for this request.</p>`,
  };
}

function deleteForm(request: GenerationDetail, call: PageCall): Html {
  return confirmForm({
    id: "delete-prompt",
    warning:
      "The prompt and its answer are deleted. This cannot be undone. The request stays in the log, with its tokens and its cost.",
    action: call.link(`${requestPath(request)}/delete-prompt`),
    hidden: hiddenFields(call, "delete-prompt"),
    state: formState(call, { action: "delete-prompt" }),
    submit: "Delete",
    cancelPath: call.link(requestPath(request)),
  });
}

async function deletePrompt(call: PageCall): Promise<ActionResult> {
  const id = call.params["id"] ?? "";
  await call.control(promptEndpoints.delete, { id });
  return { goTo: call.link(requestPath({ generation_id: id })), said: "The prompt and its answer are deleted." };
}
