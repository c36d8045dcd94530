/** A request that its provider refuses, with what the client learns of it. */
import { nameRejectedField } from "../../../src/gateway/api/call/failures.ts";
import type { CheckedChat } from "../../../src/gateway/api/request/chat-request.ts";
import type { ProviderRecord, WireFormatName } from "../../../src/gateway/models/model.ts";
import type { ChatBody } from "../../../src/gateway/providers/provider.ts";
import { wireFormats } from "../../../src/gateway/providers/registry.ts";
import { Rejection } from "../../../src/gateway/providers/rejection.ts";
import { candidate } from "../providers/candidates.ts";

const call = (id: string) => ({ id, type: "function", function: { name: "weather", arguments: "{}" } });
/** With an instruction, two calls at once, and a blank part. */
export const body: ChatBody = {
  model: "acme/one",
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Weather?", name: "ann" },
    { role: "assistant", content: "Let me look.", tool_calls: [call("call_a"), call("call_b")] },
    { role: "tool", tool_call_id: "call_a", content: "rain" },
    { role: "tool", tool_call_id: "call_b", content: "sun" },
    {
      role: "user",
      content: [
        { type: "text", text: " " },
        { type: "text", text: "And now?" },
      ],
    },
  ],
  tools: [
    {
      type: "function",
      function: {
        name: "weather",
        parameters: { type: "object", properties: { city: { type: "string" }, days: { type: "integer", const: 1 } } },
      },
    },
  ],
  response_format: { type: "json_schema", json_schema: { name: "x", schema: { type: "object" } } },
  temperature: 0.5,
  presence_penalty: 1,
  seed: 7,
  stop: ["END"],
  reasoning_effort: "high",
};
export const bounded = {
  body,
  maxTokens: 5_000,
  outputField: "max_tokens",
  inputTokens: 100,
  promptEstimate: () => 100,
} as const;
export const unbounded = { body, maxTokens: null, inputTokens: 100, promptEstimate: () => 100 };

export type Sent = Pick<
  CheckedChat,
  "body" | "maxTokens" | "outputField" | "promptField" | "clientPath" | "promptEstimate" | "inputTokens"
>;

/** The failure of `body`, or of another request, by the error of a provider of this format, with these fields if any. */
export function rejected(
  format: WireFormatName,
  error: unknown,
  {
    sent = bounded,
    status = 400,
    fields = {},
  }: { sent?: Sent; status?: number; fields?: Partial<ProviderRecord> | undefined } = {},
) {
  const refused = wireFormats[format].format.classify(status, typeof error === "string" ? error : JSON.stringify(error));
  nameRejectedField(refused, sent, candidate("acme", { ...fields, format }));
  if (!(refused instanceof Rejection)) throw new Error(`It is ${refused.code}`);
  return refused;
}
