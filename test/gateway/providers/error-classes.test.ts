/** How failures are classified: by status if the body does not say who is at fault, by the body if it says more. */
import { describe, expect, test } from "bun:test";
import type { UpstreamCode } from "../../../src/gateway/providers/provider.ts";
import { wireFormats } from "../../../src/gateway/providers/registry.ts";

const codeByStatus: Record<number, UpstreamCode> = {
  400: "upstream_rejected",
  404: "upstream_rejected",
  413: "upstream_rejected",
  422: "upstream_rejected",
  401: "upstream_auth",
  402: "upstream_auth",
  403: "upstream_auth",
  429: "upstream_rate_limited",
  408: "upstream_error",
  409: "upstream_error",
  425: "upstream_error",
  500: "upstream_error",
  502: "upstream_error",
  503: "upstream_error",
  504: "upstream_error",
  529: "upstream_error",
};
const statuses = Object.entries(codeByStatus).map(([status, code]) => ({ status: Number(status), code }));

const everywhere = [
  "",
  "{}",
  "null",
  "[]",
  '{"error":null}',
  '{"error":{}}',
  '{"error":"no"}',
  "<html>no</html>",
  '{"error":{"mess',
];

/** Bodies that report a failure without saying who is at fault. */
const openaiGeneric = ["server_error", "api_error", "unknown_error", "internal_error", "error"].map((type) =>
  JSON.stringify({ error: { message: "no", type, param: null, code: null } }),
);
const generic: Record<string, string[]> = {
  openai: openaiGeneric,
  "openai-responses": openaiGeneric,
  anthropic: ["api_error", "unknown_error", "error"].map((type) =>
    JSON.stringify({ type: "error", error: { type, message: "no" } }),
  ),
  google: ["UNKNOWN", "INTERNAL", "SOMETHING_NEW"].map((status) => JSON.stringify({ error: { code: 0, message: "no", status } })),
};

/** Words with one meaning, whatever the request. */
const openaiWords: [string, UpstreamCode][] = [
  ['{"error":{"code":"invalid_api_key"}}', "upstream_auth"],
  ['{"error":{"code":"insufficient_quota"}}', "upstream_auth"],
  ['{"error":{"type":"rate_limit_error"}}', "upstream_rate_limited"],
];
const telling: Record<string, [string, UpstreamCode][]> = {
  openai: openaiWords,
  "openai-responses": openaiWords,
  anthropic: [
    ['{"error":{"type":"authentication_error"}}', "upstream_auth"],
    ['{"error":{"type":"overloaded_error"}}', "upstream_error"],
    ['{"error":{"type":"rate_limit_error"}}', "upstream_rate_limited"],
  ],
  google: [
    ['{"error":{"status":"UNAUTHENTICATED"}}', "upstream_auth"],
    ['{"error":{"status":"UNAVAILABLE"}}', "upstream_error"],
    ['{"error":{"status":"RESOURCE_EXHAUSTED"}}', "upstream_rate_limited"],
  ],
};

/** Words for a fault of the request, which do not fit the statuses 401 to 403. */
const rejecting: Record<string, string> = {
  openai: '{"error":{"type":"invalid_request_error"}}',
  "openai-responses": '{"error":{"type":"invalid_request_error"}}',
  anthropic: '{"error":{"type":"not_found_error"}}',
  google: '{"error":{"status":"INVALID_ARGUMENT"}}',
};

const formats = Object.entries(wireFormats).filter(([name]) => name in generic);

test("every format is here", () => {
  expect(formats).toHaveLength(Object.keys(wireFormats).length - 1);
});

describe.each(formats)("a failure of a provider of the format %s", (name, { format }) => {
  const bodies = [...everywhere, ...(generic[name] ?? [])];

  test.each(statuses)("with status $status and a body that blames nobody is $code", ({ status, code }) => {
    for (const body of bodies) expect([body, format.classify(status, body).code]).toEqual([body, code]);
  });

  test.each([400, 404, 422, 500])("with status %d is what its body says in words that mean one thing", (status) => {
    for (const [body, code] of telling[name] ?? []) expect([body, format.classify(status, body).code]).toEqual([body, code]);
  });

  test.each([401, 402, 403])("with status %d is ours, though the body speaks of the request", (status) => {
    expect(format.classify(status, rejecting[name] ?? "").code).toBe("upstream_auth");
  });
});

const anthropicRefusal = (message: string) =>
  JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } });
const googleRefusal = (message: string) => JSON.stringify({ error: { code: 400, status: "INVALID_ARGUMENT", message } });

test.each<[string, boolean, string]>([
  ...[
    "messages.3.content.8: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
    "messages.1.content.0.thinking: each thinking block must contain thinking",
    "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.",
    "messages.1.content.2: Invalid `data` in `redacted_thinking` block",
    "messages.5.content.0: If an assistant message contains any thinking blocks, the first block must be `thinking`",
    "messages.1: The final block in an assistant message cannot be `thinking`.",
    "messages.1.content.0.redacted_thinking.data: Field required",
    "messages.31.content.1: When providing `thinking` or `redacted_thinking` blocks, the blocks must match the parameters",
  ].map((words): [string, boolean, string] => ["anthropic", true, anthropicRefusal(words)]),
  ...[
    '"thinking.type.enabled" is not supported for this model.',
    "`max_tokens` must be greater than `thinking.budget_tokens`",
    "Thinking may not be enabled when tool_choice forces tool use.",
    "messages.1: `tool_use` ids must be unique",
    "prompt is too long: 200001 tokens",
  ].map((words): [string, boolean, string] => ["anthropic", false, anthropicRefusal(words)]),
  ["openai-responses", true, '{"error":{"code":"invalid_encrypted_content"}}'],
  ["openai-responses", false, '{"error":{"code":"invalid_value"}}'],
  ["google", true, googleRefusal("Corrupted thought signature.")],
  ["google", true, googleRefusal("Invalid thought signature.")],
  ["google", true, googleRefusal("Unable to submit request because Thought signature is not valid.")],
  ["google", false, googleRefusal("Thinking level high is not supported for this model.")],
])("a refusal in the format %s is one of the model's thoughts (%p): %s", (name, isOfThoughts, body) => {
  const format = formats.find(([known]) => known === name)?.[1].format;
  expect(format?.classify(400, body)).toMatchObject({ code: "upstream_rejected", isOfThoughts });
});
