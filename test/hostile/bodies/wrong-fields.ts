/** Bodies that are JSON but invalid. The answer must name the wrong field. */
import type { Dice } from "./dice.ts";
import { asJson, invalid, sent, unsupported, withField, type Mutated, type Mutation, type Expected } from "./mutated.ts";
import type { Json } from "./valid-body.ts";
import { weirdValue } from "./weird-value.ts";

const noText = ["null", "true", "7", "[]", "{}", '""'] as const;
const noList = ["null", "true", "7", '"x"', "{}", '{"0":{"role":"user","content":"x"}}'] as const;
const noObject = [null, true, 7, "x", []] as const;
const noRole = ["wizard", "User", "user ", "", "__proto__", "constructor", "toString"] as const;
const noPart = ["image_url", "input_audio", "file", "video", "__proto__"] as const;
const noModel = [
  "acme/none",
  "sandbox/echo ",
  "Sandbox/Echo",
  "sandbox%2Fecho",
  "toString",
  "é/😀",
  "a\r\nb: c",
  "../echo",
] as const;
const noField = ["top_k", "Model", "model ", "é", "\0", "constructor", "__proto__", "hasOwnProperty", "0", ""] as const;

/** Replaces one of the body's messages. */
function withMessage(body: Json, dice: Dice, message: unknown, expected: (at: string) => Expected): Mutated {
  const messages: unknown[] = Array.isArray(body["messages"]) ? [...body["messages"]] : [];
  const index = dice.below(messages.length);
  messages[index] = message;
  return asJson({ ...body, messages }, expected(`messages[${index}]`));
}

export const wrongFields: readonly [Mutation, ...Mutation[]] = [
  ({ model: _, ...rest }) => asJson(rest, invalid("model")),
  ({ messages: _, ...rest }) => asJson(rest, invalid("messages")),
  (body, dice) => sent(withField(body, "model", dice.pick(noText)), invalid("model")),
  (body, dice) => asJson({ ...body, model: dice.pick(noModel) }, { code: "model_not_found", param: "model" }),
  (body) => asJson({ ...body, model: "custom:mine" }, unsupported("model")),
  (body, dice) => sent(withField(body, "messages", dice.pick(noList)), invalid("messages")),
  (body, dice) => withMessage(body, dice, dice.pick<unknown>(noObject), invalid),
  (body, dice) => withMessage(body, dice, { role: dice.pick(noRole), content: "x" }, (at) => invalid(`${at}.role`)),
  (body, dice) =>
    withMessage(body, dice, { role: "user", content: [{ type: dice.pick(noPart) }] }, (at) => unsupported(`${at}.content`)),
  (body, dice) =>
    withMessage(body, dice, { role: "user", content: "x", seen: weirdValue(dice) }, (at) => unsupported(`${at}.seen`)),
  (body, dice) => sent(withField(body, "temperature", dice.pick(["2.1", "-0.1", "1e400", '"1"', "[]"])), invalid("temperature")),
  (body, dice) => sent(withField(body, "n", dice.pick(["2", "0", "1.5", '"1"', "1e400", "[1]"])), unsupported("n")),
  (body, dice) => sent(withField(body, "stream", dice.pick(["1", '"true"', "[]", "{}"])), invalid("stream")),
  (body, dice) => {
    const name = dice.pick(noField);
    return sent(withField(body, name, weirdValue(dice)), unsupported(name));
  },
];
