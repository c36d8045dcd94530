/** Bodies that are not a JSON object, or too large to parse, which are refused as a whole. */
import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import { bodyBytesMax, messagesMax } from "../../../src/gateway/limits.ts";
import { jsonValuesMax } from "../../../src/http/limits.ts";
import { asJson, invalid, sent, withField, type Mutation } from "./mutated.ts";
import { almostJson, nested } from "./weird-value.ts";

const noObject = ["null", "true", "7", "[]", '"hello"', "[{}]", '"{}"', "-0", "1e400"] as const;
const halves = ['"\\ud83d"', '"\\ude00"', '"\\uD83Dx"', '"\\ud83d\\ud83d"', '["\\udfff"]'] as const;
const behind = ["x", "{}", ",", "\0", "]", "//", '"', "\u00a0", "\ufeff"] as const;

export const invalidJson: readonly [Mutation, ...Mutation[]] = [
  (body, dice) => {
    const text = JSON.stringify(body);
    return sent(text.slice(0, dice.below(text.length)), invalid(null));
  },
  (body, dice) => sent(withField(body, "user", dice.pick(almostJson)), invalid(null)),
  (body, dice) => sent(withField(body, "user", dice.pick(halves)), invalid(null)),
  (body, dice) => sent(withField(body, "metadata", nested(dice, 65 + dice.below(300))), invalid(null)),
  (body, dice) => sent(JSON.stringify(body) + dice.pick(behind), invalid(null)),
  (body, dice) => {
    // A byte that never occurs in UTF-8.
    const bytes = Buffer.from(JSON.stringify(body));
    const at = dice.below(bytes.length);
    return sent(Buffer.concat([bytes.subarray(0, at), Buffer.of(0xf8 + dice.below(8)), bytes.subarray(at)]), invalid(null));
  },
  (body, dice) => sent(Buffer.from(JSON.stringify(body), dice.pick(["utf16le", "base64"])), invalid(null)),
  (body) => sent(gzipSync(JSON.stringify(body)), invalid(null)),
  (_, dice) => sent(dice.pick(noObject), invalid(null)),
  (body) => asJson([body], invalid(null)),
];

/** Large bodies, which are costly to send, so only one in a few hundred is. */
export const oversized: readonly [Mutation, ...Mutation[]] = [
  (body) => sent(withField(body, "metadata", `[${"0,".repeat(jsonValuesMax)}0]`), invalid(null)),
  (body, dice) => sent(withField(body, "metadata", nested(dice, 100_000)), invalid(null)),
  (body) => sent(withField(body, "user", JSON.stringify("x".repeat(bodyBytesMax))), { code: "request_too_large", param: null }),
  (body) =>
    asJson(
      { ...body, messages: Array.from({ length: messagesMax + 1 }, () => ({ role: "user", content: "x" })) },
      invalid("messages"),
    ),
];
