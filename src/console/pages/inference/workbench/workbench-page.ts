/**
 * The Workbench: a conversation that the browser sends to one model or two. The service keeps nothing of it beyond the request log; the
 * browser keeps a history, presets and the tab's draft for itself. It is the only page that needs a script. The same request as a program,
 * for each of the three APIs, is made from the files in `programs/`.
 * A stored request begins here again by a form of its page: reading its prompt is an act that the audit log names.
 */
import { readFileSync } from "node:fs";
import { logEndpoints, promptEndpoints } from "../../../../control-api/endpoints/log.ts";
import { modelEndpoints } from "../../../../control-api/endpoints/models.ts";
import { workspaceEndpoints } from "../../../../control-api/endpoints/workspaces.ts";
import type { PromptView } from "../../../../gateway/prompts/prompts.ts";
import { markup, type Html } from "../../../../http/html.ts";
import { asset } from "../../../../http/page.ts";
import { address } from "../../../look/forms.ts";
import { chooser, codeBlock, copyButton, dialog, notice, opener } from "../../../look/parts.ts";
import type { ActionResult, FormFields, Page, PageCall, PageContent } from "../../../page.ts";
import { choosableModels, modelOptions, promptForm, type ChoosableModels } from "./workbench-form.ts";

const scripts = ["markdown", "answer-text", "answer", "request", "kept", "picker", "code", "workbench"];

export const workbenchPage: Page = {
  of: "workspace",
  path: "/workbench",
  navigation: { section: "Inference", label: "Workbench", icon: "workbench" },
  reference: "inference",
  roles: ["member", "admin", "super_admin"],
  scripts: [
    asset(
      "script",
      scripts.map((name) => new URL(`${name}.js`, import.meta.url)),
    ),
  ],
  render: (call) => content(call, null),
  actions: { again },
};

/** A stored request that begins again. */
interface GivenRequest {
  id: string;
  model: string;
  prompt: Pick<PromptView, "messages" | "parameters">;
}

/** Recorded in the audit log, as each reading of a prompt. */
async function again(call: PageCall, form: FormFields): Promise<ActionResult> {
  const { generation_id: id, model } = await call.control(logEndpoints.show, { id: form.text("generation") });
  const { messages, parameters } = await call.control(promptEndpoints.show, { id });
  return { show: await content(call, { id, model, prompt: { messages, parameters } }) };
}

async function content(call: PageCall, given: GivenRequest | null): Promise<PageContent> {
  const { id } = call.workspace;
  const [{ data }, { enabled }] = await Promise.all([
    call.control(modelEndpoints.list),
    call.control(workspaceEndpoints.show, { id }),
  ]);
  const models = choosableModels(data);
  const why = whyNot(call, { enabled, callable: models.callable.length });
  const wanted = [given?.model ?? call.query.get("model"), call.query.get("second")];
  return {
    title: "Workbench",
    lead: "Try models on the workspace's credit. Weir keeps prompts only if the workspace does.",
    actions: tools(call),
    main: markup`${why === null ? null : markup`<p class="notice warn" role="status">${why}</p>`}
      <noscript><p class="notice warn">The Workbench needs JavaScript, as it shows answers while they arrive.</p></noscript>
      ${given === null ? null : givenNotice(given, call)}
      <div class="bench" data-workbench data-workspace="${id}" data-person="${call.viewer.email ?? ""}"
        data-endpoint="/api/console/workbench?workspace=${encodeURIComponent(id)}" data-sign-in="${address("/console/sign-in", { next: call.path })}"
        data-log="/api/console/log?workspace=${encodeURIComponent(id)}&limit=20" data-requests="${call.link("/requests/")}"${why === null ? null : markup` data-off`}>
        ${promptForm()}${runBar()}${answerPanes(models, wanted)}
      </div>
      ${historyDialog}${presetsDialog}${codeDialog(call)}`,
  };
}

/** Why no model can be called here; null: one can. */
function whyNot({ viewer }: PageCall, { enabled, callable }: { enabled: boolean; callable: number }): string | null {
  if (viewer.email === null) return "The operator is not a member of this workspace: sign in as a member to run a model.";
  if (!enabled) return "The inference API is switched off for this workspace. The operator can switch it on.";
  return callable > 0 ? null : "No model can be called right now. The page Models says what each one lacks.";
}

function givenNotice({ id, prompt }: GivenRequest, call: PageCall): Html {
  const request = markup`<a href="${call.link(`/requests/${id}`)}">a request</a>`;
  const words = markup`This is the prompt of ${request}, with its parameters and tools. Its routing options were not stored.`;
  return markup`${notice({ tone: "neutral", words })}<template data-given="${JSON.stringify(prompt)}"></template>`;
}

/** What needs the script is shown by it. */
function tools({ path }: PageCall): Html {
  const open = (dialog: string, label: string): Html => opener({ dialog: `bench-${dialog}`, path, label, quiet: true });
  return markup`<span class="actions" data-tools hidden>
    <button type="button" class="quiet" data-new>New</button>${open("history", "History")}${open("presets", "Presets")}${open("code", "Code")}
  </span>`;
}

/** One button, which stays in sight. */
function runBar(): Html {
  return markup`<div class="bench-run">
    <button type="button" data-run disabled aria-keyshortcuts="Control+Enter">Run</button>
    <p class="hint">Ctrl and Enter run it, Escape stops it.</p>
  </div>`;
}

// Two places for answers, side by side. The script shows the second one on demand and fills its list of models from the first.

/** @param wanted ids of the initially chosen models, for the first and the second place; null: any */
function answerPanes(models: ChoosableModels, [first = null, second = null]: readonly (string | null)[]): Html {
  return markup`<section class="bench-answers" aria-labelledby="bench-answers">
    <div class="bench-head">
      <h2 id="bench-answers">Answers</h2>
      <label class="choice"><input type="checkbox" data-second autocomplete="off" /><span>Compare with a second model</span></label>
    </div>
    <div class="panes">
      ${pane({ number: 1, options: modelOptions(models, first), wanted: first })}
      ${pane({ number: 2, options: markup``, wanted: second })}
    </div>
    <p class="bench-comparison" data-comparison role="status"></p>
    <p class="hint" data-not-kept hidden>This run is not in the history: it is too long, or the browser's storage is full.</p>
  </section>`;
}

function pane({ number, options, wanted }: { number: 1 | 2; options: Html; wanted: string | null }): Html {
  const id = `bench-answer-${number}`;
  const label = number === 1 ? "Model" : "Second model";
  return markup`<div class="pane" data-pane${number === 1 ? null : markup` hidden`}>
    <div class="field"><label for="${id}-model">${label}</label><select id="${id}-model" data-model data-wanted="${wanted ?? ""}" autocomplete="off">${options}</select></div>
    <p class="pane-state" role="status"><span data-state></span></p>
    <div class="answer" data-answer data-empty role="region" aria-label="Answer ${number}" tabindex="0">
      <details data-thoughts hidden></details><div data-text></div><div data-calls></div>
      <p class="notice bad" data-error role="alert" hidden></p>
    </div>
    <div class="unseen" data-said role="log" aria-label="Answer ${number}, sentence by sentence"></div>
    <dl class="facts" data-facts hidden></dl>
    <div data-after hidden>
      <textarea id="${id}" data-raw readonly hidden></textarea>
      <div class="actions">
        ${copyButton({ copies: id, label: "Copy", what: `answer ${number}` })}
        <button type="button" class="quiet small" data-continue>Continue from here</button>
        <button type="button" class="quiet small" data-plain aria-pressed="false">Plain text</button>
        <details data-json><summary>As JSON</summary><pre tabindex="0" role="group" aria-label="Answer ${number} as JSON" data-json-text></pre></details>
      </div>
    </div>
  </div>`;
}

// What the browser keeps, and the request as code: dialogs, which the script fills.

const inThisBrowser = "in this browser alone, also after you sign out: Weir gets none of it.";

const historyDialog = dialog({
  id: "bench-history",
  title: "History",
  asks: null,
  body: markup`<p class="hint">Your last 50 runs in this workspace, up to a million characters. They are ${inThisBrowser}</p>
    <label class="choice"><input type="checkbox" data-keeps autocomplete="off" /><span>Keep my runs in this browser</span></label>
    <ol class="kept-list" role="list" data-runs></ol>
    <p data-no-runs>No runs yet.</p>
    <p><button type="button" class="quiet" data-clear-runs hidden>Clear the history</button></p>`,
});

const presetsDialog = dialog({
  id: "bench-presets",
  title: "Presets",
  asks: null,
  body: markup`<p class="hint">A preset is a prompt with its parameters and models. Presets are ${inThisBrowser}</p>
    <div class="field"><label for="bench-preset">Save what is typed as</label>
      <div class="entry"><input id="bench-preset" type="text" data-preset-name maxlength="80" dir="auto" autocomplete="off" aria-describedby="bench-preset-problem" /><button type="button" data-save-preset>Save</button></div>
      <p class="problem" id="bench-preset-problem" data-preset-problem role="alert"></p></div>
    <ul class="kept-list" role="list" data-presets></ul>
    <p data-no-presets>No presets yet.</p>`,
});

const panesAsChoices = [
  { value: "first", label: "Model" },
  { value: "second", label: "Second model" },
];

const waysToAnswer = [
  { value: "whole", label: "Whole" },
  { value: "streamed", label: "Streamed" },
];

function codeDialog(call: PageCall): Html {
  const templates = programTemplates(call.publicUrl).map(
    ({ template, notation, api, language, streams }) =>
      markup`<template data-template="${template}" data-notation="${notation}" data-api="${api}" data-language="${language}" data-streams="${streams ? "yes" : "no"}"></template>`,
  );
  const key = markup`<code>WEIR_KEY</code>, in PowerShell <code>$env:WEIR_KEY</code>`;
  return dialog({
    id: "bench-code",
    title: "The same as code",
    asks: null,
    body: markup`<div class="samples">
      <span data-code-models>${chooser({ name: "bench-model", legend: "Model", choices: panesAsChoices })}</span>
      ${chooser({ name: "bench-api", legend: "API", choices: apis.map(({ api, label }) => ({ value: api, label })) })}
      ${chooser({ name: "bench-language", legend: "Language", choices: languages.map((label) => ({ value: label, label })) })}
      ${chooser({ name: "bench-how", legend: "Answer", choices: waysToAnswer })}
      ${codeBlock({ id: "bench-program", code: "", label: "Program" })}
      </div>
      <p class="hint" data-code-note role="status"></p>
      <p class="hint">It reads the key from the variable ${key}. <a href="${call.link("/keys")}">Create a key</a> if you have none.</p>${templates}`,
  });
}

// The programs

const programOf = (name: string): string => readFileSync(new URL(`programs/${name}.txt`, import.meta.url), "utf8").trim();

/** Each with how the script writes the request: quoted for a shell, as keyword arguments, or as an object. */
const sources = [
  { language: "curl", notation: "shell", whole: programOf("curl"), streamed: programOf("curl-stream") },
  { language: "Python", notation: "keywords", whole: programOf("python"), streamed: programOf("python-stream") },
  { language: "JavaScript", notation: "object", whole: programOf("javascript"), streamed: programOf("javascript-stream") },
];
const languages = sources.map(({ language }) => language);

const openai = { client: "OpenAI", module: "openai", npmPackage: "openai", base: "/gpt/v1" };
/** What the programs have in place of `{path}`, `{client}` and the others. */
const apis = [
  {
    api: "chat",
    label: "Chat",
    path: "/chat/completions",
    ...openai,
    method: "chat.completions",
    textInPython: "answer.choices[0].message.content",
    textInJavaScript: "answer.choices[0].message.content",
    pieceInPython: 'event.choices and event.choices[0].delta.content or ""',
    pieceInJavaScript: 'event.choices[0]?.delta.content ?? ""',
  },
  {
    api: "messages",
    label: "Messages",
    path: "/messages",
    client: "Anthropic",
    module: "anthropic",
    npmPackage: "@anthropic-ai/sdk",
    base: "/gpt",
    method: "messages",
    // A thought may precede the text.
    textInPython: 'next(block.text for block in answer.content if block.type == "text")',
    textInJavaScript: 'answer.content.find(({ type }) => type === "text").text',
    pieceInPython: 'event.delta.text if event.type == "content_block_delta" and event.delta.type == "text_delta" else ""',
    pieceInJavaScript: 'event.type === "content_block_delta" && event.delta.type === "text_delta" ? event.delta.text : ""',
  },
  {
    api: "responses",
    label: "Responses",
    path: "/responses",
    ...openai,
    method: "responses",
    textInPython: "answer.output_text",
    textInJavaScript: "answer.output_text",
    pieceInPython: 'event.delta if event.type == "response.output_text.delta" else ""',
    pieceInJavaScript: 'event.type === "response.output_text.delta" ? event.delta : ""',
  },
];

interface ProgramTemplate {
  api: string;
  language: string;
  notation: string;
  /** Whether the program shows the answer as it arrives. */
  streams: boolean;
  /** With `{body}` in place of the request. */
  template: string;
}

/** Of each API in each language, whole and streamed. @param publicUrl where people reach the service */
export function programTemplates(publicUrl: string): ProgramTemplate[] {
  return apis.flatMap(({ api, base, ...fields }) => {
    const filled = new Map(Object.entries({ ...fields, address: `${publicUrl}/gpt/v1`, base: `${publicUrl}${base}` }));
    const fill = (text: string): string => text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => filled.get(name) ?? whole);
    return sources.flatMap(({ language, notation, whole, streamed }) => [
      { api, language, notation, streams: false, template: fill(whole) },
      { api, language, notation, streams: true, template: fill(streamed) },
    ]);
  });
}
