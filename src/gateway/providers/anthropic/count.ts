/**
 * Anthropic's own count of a prompt, which costs nothing and has limits of its own
 * (https://platform.claude.com/docs/en/build-with-claude/token-counting). What is counted is what a request for an answer would send,
 * thoughts and thinking included: the body is that of such a request, with only the fields that the count takes. A field that bounds or
 * shapes the answer alone would be refused.
 */
import type { TokenCount } from "../provider.ts";
import { asCount, asObject, parseJson } from "../wire/json.ts";
import { encodeAnthropicRequest } from "./request.ts";

const countedFields = [
  "model",
  "system",
  "tools",
  "tool_choice",
  "messages",
  "thinking",
  "output_config",
  "context_management",
  "cache_control",
];

export const anthropicCount: TokenCount = {
  encode(call) {
    const { headers, body } = encodeAnthropicRequest(call);
    const whole = asObject(parseJson(body)) ?? {};
    const counted = countedFields.filter((name) => Object.hasOwn(whole, name)).map((name) => [name, whole[name]]);
    return { path: "/messages/count_tokens", headers, body: JSON.stringify(Object.fromEntries(counted)) };
  },
  decode: (body) => asCount(asObject(body)?.["input_tokens"]),
};
