/** The prompt: a system text, messages, and the parameters. */
import { markup, type Html } from "../../../http/html.ts";

export function conversation(): Html {
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
