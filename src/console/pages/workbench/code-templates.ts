/** The conversation as a program, which the script writes anew with every change. */
import { markup, type Html } from "../../../http/html.ts";
import { codeSamples } from "../../look/code.ts";

interface Template {
  language: string;
  /** `{body}` is where the request goes. */
  code: string;
  /** How the script writes the request: quoted for a shell, as keyword arguments, or as an object. */
  notation: "shell" | "keywords" | "object";
}

/** @param base the address of the inference API */
export function conversationAsCode(base: string): Html {
  const templates = templatesFor(base);
  const samples = templates.map(({ language }) => ({ language, code: "" }));
  return markup`<section aria-labelledby="bench-code"><h2 id="bench-code">The same as code</h2>
    <p class="hint">It reads a key from <code>WEIR_KEY</code>. The page Keys creates one.</p>
    ${codeSamples({ id: "bench-sample", legend: "Code", samples })}
    ${templates.map(({ code, notation }) => markup`<template data-template="${code}" data-notation="${notation}"></template>`)}
  </section>`;
}

function templatesFor(base: string): Template[] {
  const curl = [
    `curl ${base}/chat/completions \\`,
    '  -H "Authorization: Bearer $WEIR_KEY" \\',
    '  -H "Content-Type: application/json" \\',
    "  -d {body}",
  ];
  const python = [
    "import os",
    "from openai import OpenAI",
    "",
    `client = OpenAI(base_url="${base}", api_key=os.environ["WEIR_KEY"])`,
    "answer = client.chat.completions.create(",
    "{body})",
    "print(answer.choices[0].message.content)",
  ];
  const javascript = [
    'import OpenAI from "openai";',
    "",
    `const client = new OpenAI({ baseURL: "${base}", apiKey: process.env.WEIR_KEY });`,
    "const answer = await client.chat.completions.create({body});",
    "console.log(answer.choices[0].message.content);",
  ];
  return [
    { language: "curl", code: curl.join("\n"), notation: "shell" },
    { language: "Python", code: python.join("\n"), notation: "keywords" },
    { language: "JavaScript", code: javascript.join("\n"), notation: "object" },
  ];
}
