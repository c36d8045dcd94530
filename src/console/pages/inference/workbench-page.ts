/**
 * The Workbench: a conversation that the browser sends to one model or two. The server renders this page and stores nothing of the
 * conversation, so leaving the page loses it. It is the only page that needs a script. Below it is the same conversation as a program for
 * each of the three APIs, from the files `workbench-*.txt`.
 */
import { readFileSync } from "node:fs";
import { modelEndpoints } from "../../../control-api/endpoints/models.ts";
import { workspaceEndpoints } from "../../../control-api/endpoints/workspaces.ts";
import type { ModelRecord } from "../../../gateway/models/listing.ts";
import { markup, type Html } from "../../../http/html.ts";
import { asset } from "../../../http/page.ts";
import { copyButton, codeSamples } from "../../look/parts.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";

export const workbenchPage: Page = {
  of: "workspace",
  path: "/workbench",
  navigation: { section: "Inference", label: "Workbench", icon: "workbench" },
  roles: ["member", "admin", "super_admin"],
  scripts: [asset("script", [new URL("workbench-code.js", import.meta.url), new URL("workbench.js", import.meta.url)])],
  render,
};

async function render(call: PageCall): Promise<PageContent> {
  const { id } = call.workspace;
  const [{ data }, { enabled }] = await Promise.all([
    call.control(modelEndpoints.list),
    call.control(workspaceEndpoints.show, { id }),
  ]);
  const models = choosableModels(data);
  const why = whyNot(call, { enabled, callable: models.callable.length });
  const wanted = [call.query.get("model"), call.query.get("second")];
  return {
    title: "Workbench",
    lead: "Try models on the workspace's credit, without a key. What you write is kept only if the workspace stores prompts.",
    main: markup`${why === null ? null : markup`<p class="notice warn" role="status">${why}</p>`}
      <noscript><p class="notice warn">The Workbench needs JavaScript, as it shows answers while they arrive.</p></noscript>
      <div class="bench" data-workbench data-endpoint="/api/console/workbench?workspace=${encodeURIComponent(id)}"
        data-log="/api/console/log?workspace=${encodeURIComponent(id)}&limit=20" data-requests="${call.link("/requests/")}"${why === null ? null : markup` data-off`}>
        ${conversation()}${answerPanes(models, wanted)}
      </div>
      ${conversationAsCode(call.publicUrl, call.link("/keys"))}`,
  };
}

/** Why no model can be called here; null: one can. */
function whyNot({ viewer }: PageCall, { enabled, callable }: { enabled: boolean; callable: number }): string | null {
  if (viewer.email === null) return "The operator is not a member of this workspace: sign in as a member to run a model.";
  if (!enabled) return "The inference API is switched off for this workspace. The operator can switch it on.";
  return callable > 0 ? null : "No model can be called right now. The page Models says what each one lacks.";
}

// The prompt: a system text, messages, and the parameters.

function conversation(): Html {
  return markup`<section class="bench-prompt" aria-labelledby="bench-prompt">
    <h2 id="bench-prompt">Prompt</h2>
    <div class="field"><label for="bench-system">System <span class="optional">(optional)</span></label>
      <textarea id="bench-system" data-system rows="2" dir="auto" autocomplete="off"></textarea></div>
    <ol class="turns" role="list" data-messages aria-label="Messages">${turn()}</ol>
    <template data-turn>${turn()}</template>
    <p><button type="button" class="quiet small" data-add>Add a message</button></p>
    <div class="bench-settings">
      ${number({ name: "temperature", label: "Temperature", max: 2, step: "0.1" })}
      ${number({ name: "max_tokens", label: "Max tokens", max: null, step: "1" })}
    </div>
    <label class="choice"><input type="checkbox" data-second autocomplete="off" /><span>Compare with a second model</span></label>
    <div class="form-end">
      <button type="button" data-run disabled aria-keyshortcuts="Control+Enter">Run</button>
      <button type="button" class="quiet" data-stop hidden aria-keyshortcuts="Escape">Stop</button>
    </div>
    <p class="hint">Ctrl and Enter run it, Escape stops it.</p>
  </section>`;
}

/** The script numbers the labels. */
function turn(): Html {
  return markup`<li class="turn">
    <select aria-label="Author of message 1" autocomplete="off"><option value="user">User</option><option value="assistant">Assistant</option></select>
    <textarea rows="3" aria-label="Message 1" dir="auto" autocomplete="off"></textarea>
    <button type="button" class="quiet small" data-remove aria-label="Remove message 1" disabled>Remove</button>
  </li>`;
}

function number({ name, label, max, step }: { name: string; label: string; max: number | null; step: string }): Html {
  const id = `bench-${name}`;
  const [least, bounds] = max === null ? [1, null] : [0, markup` max="${max}"`];
  return markup`<div class="field"><label for="${id}">${label} <span class="optional">(optional)</span></label>
    <input id="${id}" type="number" data-${name} min="${least}"${bounds} step="${step}" inputmode="decimal" autocomplete="off" /></div>`;
}

// Two places for answers, side by side. The script shows the second one on demand and fills its list of models from the first.

/** @param wanted ids of the initially chosen models, for the first and the second place; null: any */
function answerPanes(models: ChoosableModels, [first = null, second = null]: readonly (string | null)[]): Html {
  return markup`<section class="bench-answers" aria-labelledby="bench-answers">
    <h2 id="bench-answers">Answers</h2>
    <div class="panes">
      ${pane({ number: 1, options: options(models, first), wanted: first })}
      ${pane({ number: 2, options: markup``, wanted: second })}
    </div>
  </section>`;
}

function pane({ number, options: listed, wanted }: { number: 1 | 2; options: Html; wanted: string | null }): Html {
  const id = `bench-answer-${number}`;
  const label = number === 1 ? "Model" : "Second model";
  return markup`<div class="pane" data-pane${number === 1 ? null : markup` hidden`}>
    <div class="field"><label for="${id}-model">${label}</label><select id="${id}-model" data-model data-wanted="${wanted ?? ""}" autocomplete="off">${listed}</select></div>
    <p class="hint" data-state role="status"></p>
    <div class="answer" id="${id}" data-text role="region" aria-label="Answer ${number}" tabindex="0" dir="auto"></div>
    <div class="unseen" data-said role="log" aria-label="Answer ${number}, sentence by sentence"></div>
    <p class="notice bad" data-error role="alert" hidden></p>
    <dl class="facts" data-facts hidden></dl>
    <div class="actions" data-after hidden>
      ${copyButton({ copies: id, label: "Copy", what: `answer ${number}` })}
      <button type="button" class="quiet small" data-continue>Continue from here</button>
    </div>
  </div>`;
}

function options({ callable, others }: ChoosableModels, wanted: string | null): Html {
  return markup`${group("Callable", callable, wanted)}${group("Not callable now", others, wanted)}`;
}

function group(label: string, ids: readonly string[], wanted: string | null): Html | null {
  if (ids.length === 0) return null;
  return markup`<optgroup label="${label}">${ids.map((id) => markup`<option${id === wanted ? markup` selected` : null}>${id}</option>`)}</optgroup>`;
}

// The models that the Workbench offers.

interface ChoosableModels {
  /** Ids, in the order of the catalog. */
  callable: string[];
  /** Chat models that the workspace cannot call now; their pages say why. */
  others: string[];
}

export function choosableModels(models: readonly ModelRecord[]): ChoosableModels {
  const chats = models.filter(({ kind }) => kind !== "embeddings");
  const idsOf = (runnable: boolean): string[] => chats.filter((model) => model.runnable === runnable).map(({ id }) => id);
  return { callable: idsOf(true), others: idsOf(false) };
}

// The conversation as a program, which the script rewrites with every change. The programs are the files `workbench-*.txt`.

/** Each with how the script writes the request: quoted for a shell, as keyword arguments, or as an object. */
const languages = [
  { language: "curl", file: "curl.txt", notation: "shell" },
  { language: "Python", file: "python.txt", notation: "keywords" },
  { language: "JavaScript", file: "javascript.txt", notation: "object" },
].map(({ file, ...rest }) => ({ ...rest, text: readFileSync(new URL(`workbench-${file}`, import.meta.url), "utf8").trim() }));

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
  },
  {
    api: "responses",
    label: "Responses",
    path: "/responses",
    ...openai,
    method: "responses",
    textInPython: "answer.output_text",
    textInJavaScript: "answer.output_text",
  },
];

interface ProgramTemplate {
  api: string;
  language: string;
  notation: string;
  /** With `{body}` in place of the request. */
  template: string;
}

/** Of each API in each language. @param publicUrl where people reach the service */
export function programTemplates(publicUrl: string): ProgramTemplate[] {
  return apis.flatMap(({ api, base, ...fields }) => {
    const filled = new Map(Object.entries({ ...fields, address: `${publicUrl}/gpt/v1`, base: `${publicUrl}${base}` }));
    return languages.map(({ text, ...rest }) => ({
      ...rest,
      api,
      template: text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => filled.get(name) ?? whole),
    }));
  });
}

/** @param keysPath the page that creates keys */
function conversationAsCode(publicUrl: string, keysPath: string): Html {
  const programs = programTemplates(publicUrl);
  const samples = programs.map(({ language, api }) => ({ language, api, code: "" }));
  const templates = programs.map(
    ({ template, notation, api }) =>
      markup`<template data-template="${template}" data-notation="${notation}" data-api="${api}"></template>`,
  );
  return markup`<section aria-labelledby="bench-code"><h2 id="bench-code">The same as code</h2>
    <p class="hint">It reads the key from <code>WEIR_KEY</code>. <a href="${keysPath}">Create a key</a> if you have none. The newest Messages takes no temperature.</p>
    ${codeSamples({ id: "bench-sample", legend: "Code", samples, apis: apis.map(({ api, label }) => ({ value: api, label })) })}${templates}
  </section>`;
}
