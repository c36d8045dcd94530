// Runs in the browser before workbench.js: writes the conversation as a program that calls one of the three APIs.
"use strict";

{
  const systemOf = (messages) => messages.find(({ role }) => role === "system")?.content;
  const turnsOf = (messages) => messages.filter(({ role }) => role !== "system");

  /** What each API calls the fields of a chat completion. Undefined ones are left out. */
  const requests = {
    chat: (chat) => chat,
    // The newest version of Messages refuses a temperature, and every version wants a bound.
    messages: ({ model, messages, max_tokens = 1_024 }) => ({
      model,
      max_tokens,
      system: systemOf(messages),
      messages: turnsOf(messages),
    }),
    responses: ({ model, messages, temperature, max_tokens }) => ({
      model,
      instructions: systemOf(messages),
      input: turnsOf(messages),
      temperature,
      max_output_tokens: max_tokens,
    }),
  };

  const notations = {
    shell: (body) => `'${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
    object: (body) => JSON.stringify(body, null, 2),
    keywords(body) {
      const json = (value) => JSON.stringify(value, null, 4).replaceAll("\n", "\n    ");
      return Object.entries(body)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => `    ${name}=${json(value)},\n`)
        .join("");
    },
  };

  /** @param chat the conversation as the body of a chat completion */
  globalThis.programOf = ({ template, notation, api }, chat) =>
    template.replace("{body}", () => notations[notation](requests[api](chat)));
}
