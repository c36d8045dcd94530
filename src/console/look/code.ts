/** Text for a terminal or an editor, alone or as one program in several languages. */
import { markup, type Html } from "../../http/html.ts";
import { copyButton } from "./copy.ts";

/** A long line scrolls: where it breaks matters when it is copied by hand. */
export function codeBlock({ id, code, label }: { id: string; code: string; label: string }): Html {
  return markup`<div class="code-block"><pre tabindex="0" role="region" aria-label="${label}"><code id="${id}">${code}</code></pre>${copyButton({ copies: id, label: "Copy", what: label })}</div>`;
}

export interface Sample {
  /** Such as "Python". */
  language: string;
  code: string;
}

/** Radio buttons choose the shown one, so that it works without a script. At most four. */
export function codeSamples({ id, legend, samples }: { id: string; legend: string; samples: readonly Sample[] }): Html {
  const choices = samples.map(
    ({ language }, index) =>
      markup`<label><input type="radio" name="${id}" value="${index}"${index === 0 ? markup` checked` : null} autocomplete="off" />${language}</label>`,
  );
  const blocks = samples.map(
    ({ language, code }, index) =>
      markup`<div data-sample="${index}">${codeBlock({ id: `${id}-${index}`, code, label: `${legend}: ${language}` })}</div>`,
  );
  return markup`<div class="samples"><fieldset><legend class="unseen">${legend}</legend>${choices}</fieldset>${blocks}</div>`;
}
