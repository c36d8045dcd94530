/** The conversation as a program, which the script writes anew with every change. The programs are the files in `code`. */
import { readFileSync } from "node:fs";
import { markup, type Html } from "../../../http/html.ts";
import { codeSamples } from "../../look/code.ts";

/** With how the script writes the request: quoted for a shell, as keyword arguments, or as an object. */
const programs = [
  { language: "curl", file: "curl.txt", notation: "shell" },
  { language: "Python", file: "python.txt", notation: "keywords" },
  { language: "JavaScript", file: "javascript.txt", notation: "object" },
].map(({ file, ...program }) => ({ ...program, text: readFileSync(new URL(`code/${file}`, import.meta.url), "utf8").trim() }));

/** @param base the address of the inference API @param keysPath the page that creates keys */
export function conversationAsCode(base: string, keysPath: string): Html {
  const samples = programs.map(({ language }) => ({ language, code: "" }));
  const templates = programs.map(
    ({ notation, text }) =>
      markup`<template data-template="${text.replace("{base}", () => base)}" data-notation="${notation}"></template>`,
  );
  return markup`<section aria-labelledby="bench-code"><h2 id="bench-code">The same as code</h2>
    <p class="hint">It reads the key from <code>WEIR_KEY</code>. <a href="${keysPath}">Create a key</a> if you have none.</p>
    ${codeSamples({ id: "bench-sample", legend: "Code", samples })}${templates}
  </section>`;
}
