/** Makes valid chat requests, from which mutations start. */
import type { Dice } from "./dice.ts";

export type Json = Record<string, unknown>;

const words = ["Hello", "weir", "é", "😀", "\u2028", "a\tb", '"quoted"', "\\", "line\nend", "data: [DONE]", "0", " "] as const;

export function validBody(dice: Dice): Json {
  const text = (): string => [dice.pick(words), ...dice.list(6, () => dice.pick(words))].join(" ");
  const messages = [...dice.list(4, () => message(dice, text)), { role: "user", content: text() }];
  const fields: Json = { model: "sandbox/echo", messages };
  for (const [name, make] of Object.entries(optional)) if (dice.oneIn(6)) fields[name] = make(dice);
  if (fields["stream"] !== true) delete fields["stream_options"];
  if (fields["tools"] === undefined) delete fields["tool_choice"];
  return fields;
}

function message(dice: Dice, text: () => string): Json {
  const call = { id: "call_1", type: "function", function: { name: "look_up", arguments: JSON.stringify({ at: text() }) } };
  return dice.pick<Json>([
    { role: "system", content: text() },
    { role: "user", content: [{ type: "text", text: text() }], name: "ann" },
    { role: "assistant", content: text() },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "call_1", content: text() },
  ]);
}

/** One or two fields of each kind, with values that the sandbox accepts. */
const optional: Record<string, (dice: Dice) => unknown> = {
  temperature: (dice) => dice.below(21) / 10,
  top_p: (dice) => dice.below(11) / 10,
  max_tokens: (dice) => 1 + dice.below(20),
  n: () => 1,
  user: () => "ann",
  metadata: () => ({ a: "b" }),
  stop: (dice) => dice.pick<unknown>(["END", ["a", "b"], []]),
  stream: (dice) => dice.oneIn(2),
  stream_options: () => ({ include_usage: true }),
  store: () => false,
  response_format: () => ({ type: "text" }),
  tools: () => [{ type: "function", function: { name: "look_up", parameters: { type: "object" } } }],
  tool_choice: () => "auto",
  seed: () => null,
};
