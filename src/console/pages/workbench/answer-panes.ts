/** Two places for answers, side by side. The script shows the second one on demand and fills its list of models from the first. */
import { markup, type Html } from "../../../http/html.ts";
import { copyButton } from "../../look/copy.ts";
import type { ChoosableModels } from "./models.ts";

/** @param wanted ids of the models that are chosen at first, for the first place and the second; null: any */
export function answerPanes(models: ChoosableModels, [first = null, second = null]: readonly (string | null)[]): Html {
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
