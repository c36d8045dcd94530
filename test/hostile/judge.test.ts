/** Tests of the judge: it reports wrong answers and accepts right ones. */
import { expect, test } from "bun:test";
import { errorBody, GatewayError, type ErrorCode } from "../../src/kernel/errors.ts";
import { asJson, invalid } from "./bodies/mutated.ts";
import { problemOf } from "./bodies/judge.ts";

const error = (code: ErrorCode, param?: string): string => JSON.stringify(errorBody(new GatewayError(code, { param })));
const untouched = (body: unknown = { seed: "x" }) => asJson(body, null);

test.each([
  ["a 5xx", 500, error("internal_error"), untouched()],
  ["an error of a later check", 402, error("insufficient_credit"), untouched()],
  ["no JSON", 400, "Bad Request", untouched()],
  ["nothing", 400, "", untouched()],
  ["a field too many", 400, error("invalid_request").replace("{", '{"stack":"",'), untouched()],
  ["a field too few", 400, error("invalid_request").replace(',"param":null', ""), untouched()],
  ["an empty message", 400, error("invalid_request").replace(/"message":"[^"]+"/, '"message":""'), untouched()],
  ["another type", 400, error("invalid_request").replace("invalid_request_error", "api_error"), untouched()],
  ["another status", 422, error("invalid_request", "seed"), untouched()],
  ["a field that was not sent", 400, error("invalid_request", "stop"), untouched()],
  ["a field of a body that is not JSON", 400, error("invalid_request", "seed"), { ...untouched(), bytes: Uint8Array.of(0x7b) }],
  ["another field than the wrong one", 400, error("invalid_request", "model"), asJson({}, invalid("messages"))],
  ["no field although one is wrong", 400, error("invalid_request"), asJson({}, invalid("messages"))],
  ["another code", 400, error("unsupported_parameter", "model"), asJson({}, invalid("model"))],
  ["success for an invalid body", 200, '{"id":"gen-a"}', asJson({}, invalid("model"))],
  ["half an answer", 200, '{"id":"gen-a"', untouched()],
  ["half a stream", 200, 'data: {"id":"gen-a"}\n\n', untouched()],
  ["a stream with an error in it", 200, 'data: {"error":{}}\n\ndata: [DONE]\n\n', untouched()],
])("the judge reports %s", (_, status, text, sent) => {
  expect(problemOf(sent, { status, text })).toBeString();
});

test.each([
  ["the field that was sent", 400, error("invalid_request", "seed"), untouched()],
  ["a path within it", 400, error("unsupported_parameter", "messages[0].content"), untouched({ messages: [{}] })],
  ["a field that is missing", 400, error("invalid_request", "model"), untouched({})],
  ["the wrong field", 400, error("invalid_request", "model"), asJson({}, invalid("model"))],
  ["the whole body", 413, error("request_too_large"), untouched()],
  ["an answer", 200, '{"id":"gen-a"}', untouched()],
  ["a stream", 200, 'data: {"id":"gen-a"}\n\ndata: [DONE]\n\n', untouched()],
])("the judge accepts %s", (_, status, text, sent) => {
  expect(problemOf(sent, { status, text })).toBeNull();
});
