/**
 * Parts of pages that lead somewhere: a list of choices, each with its own page, and a checklist whose steps are done or open. Both are
 * links, so that they work without a script. A step's mark has a word beside its colour.
 */
import { markup, type Html } from "../../http/html.ts";
import { content, type Content } from "./parts.ts";

interface LinkedChoice {
  path: string;
  label: string;
  /** What choosing it means, in a sentence. */
  words: Content;
}

export function choiceList(choices: readonly LinkedChoice[]): Html {
  const items = choices.map(
    ({ path, label, words }) => markup`<li><a href="${path}">${label}</a><span class="under">${content(words)}</span></li>`,
  );
  return markup`<ul class="choices" role="list">${items}</ul>`;
}

export interface Step {
  label: string;
  done: boolean;
  /** Where an open step is done; null: another person does it. */
  path: string | null;
  /** What it takes, for an open step. */
  words: Content;
}

export function checklist(steps: readonly Step[]): Html {
  return markup`<ol class="steps" role="list">${steps.map(step)}</ol>`;
}

function step({ label, done, path, words }: Step): Html {
  const name = path === null || done ? markup`<b>${label}</b>` : markup`<a href="${path}">${label}</a>`;
  const more = done ? null : markup`<span class="under">${content(words)}</span>`;
  return markup`<li class="${done ? "done" : "open"}"><span class="unseen">${done ? "Done: " : "To do: "}</span>${name}${more}</li>`;
}
