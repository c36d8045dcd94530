/** A judge that finds nothing wrong with anything would be none. */
import { expect, test } from "bun:test";
import { errorBody, GatewayError, type ErrorCode } from "../../src/kernel/errors.ts";
import { asJson, invalid } from "./bodies/mutated.ts";
import { problemOf } from "./bodies/judge.ts";

const error = (code: ErrorCode, param?: string): string => JSON.stringify(errorBody(new GatewayError(code, { param })));
const said = (body: unknown = { seed: "x" }) => asJson(body, null);

test.each([
  ["a 5xx", 500, error("internal_error"), said()],
  ["an error of a later check", 402, error("insufficient_credit"), said()],
  ["no JSON", 400, "Bad Request", said()],
  ["nothing", 400, "", said()],
  ["a field too many", 400, error("invalid_request").replace("{", '{"stack":"",'), said()],
  ["a field too few", 400, error("invalid_request").replace(',"param":null', ""), said()],
  ["an empty message", 400, error("invalid_request").replace(/"message":"[^"]+"/, '"message":""'), said()],
  ["another type", 400, error("invalid_request").replace("invalid_request_error", "api_error"), said()],
  ["another status", 422, error("invalid_request", "seed"), said()],
  ["a field that was not sent", 400, error("invalid_request", "stop"), said()],
  ["a field of what is no JSON", 400, error("invalid_request", "seed"), { ...said(), bytes: Uint8Array.of(0x7b) }],
  ["another field than the spoiled one", 400, error("invalid_request", "model"), asJson({}, invalid("messages"))],
  ["no field where there is one", 400, error("invalid_request"), asJson({}, invalid("messages"))],
  ["another code", 400, error("unsupported_parameter", "model"), asJson({}, invalid("model"))],
  ["success for what cannot be good", 200, '{"id":"gen-a"}', asJson({}, invalid("model"))],
  ["half an answer", 200, '{"id":"gen-a"', said()],
  ["half a stream", 200, 'data: {"id":"gen-a"}\n\n', said()],
  ["a stream with an error in it", 200, 'data: {"error":{}}\n\ndata: [DONE]\n\n', said()],
])("%s is a problem", (_, status, text, sent) => {
  expect(problemOf(sent, { status, text })).toBeString();
});

test.each([
  ["the field that was sent", 400, error("invalid_request", "seed"), said()],
  ["a place within it", 400, error("unsupported_parameter", "messages[0].content"), said({ messages: [{}] })],
  ["a field that is missing", 400, error("invalid_request", "model"), said({})],
  ["the spoiled field", 400, error("invalid_request", "model"), asJson({}, invalid("model"))],
  ["the whole body", 413, error("request_too_large"), said()],
  ["an answer", 200, '{"id":"gen-a"}', said()],
  ["a stream", 200, 'data: {"id":"gen-a"}\n\ndata: [DONE]\n\n', said()],
])("%s is none", (_, status, text, sent) => {
  expect(problemOf(sent, { status, text })).toBeNull();
});
