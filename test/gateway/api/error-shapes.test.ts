/** An endpoint whose API writes errors in a form of its own. */
import { describe, expect, test } from "bun:test";
import { errorAnswer } from "../../../src/gateway/api/error-answer.ts";
import { answerFailure } from "../../../src/gateway/api/generate.ts";
import type { Gateway } from "../../../src/gateway/api/gateway.ts";
import type { GenerationLifecycle } from "../../../src/gateway/api/lifecycle.ts";
import { MethodNotAllowedError } from "../../../src/http/router.ts";
import { chatErrors, GatewayError, type ErrorShape } from "../../../src/kernel/errors.ts";
import { silentLog } from "../../../src/kernel/log.ts";

const shape: ErrorShape = {
  response: ({ code, status, details }, headers, request) => Response.json({ code, details, request }, { status, headers }),
};
const gateway = { log: silentLog, refused: { note() {} } } as unknown as Gateway;
const own = { endpoint: "messages", shape } as const;
const lifecycle = { request: "req-1", settle: () => Promise.resolve() } as unknown as GenerationLifecycle;
const details = { unsupported: ["thread"] };

describe("a refused request", () => {
  test("is answered in the endpoint's form, without the id of a request", async () => {
    const response = errorAnswer(new GatewayError("invalid_request", { details }), gateway, own);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ code: "invalid_request", details, request: null });
  });

  test("of a mistake of ours too", async () => {
    expect(await errorAnswer(new Error("secret"), gateway, own).json()).toMatchObject({
      code: "internal_error",
      details: null,
    });
  });

  test("with a wrong method has the form of all endpoints", async () => {
    const error = new MethodNotAllowedError(new Request("http://weir.example/gpt/v1/chat/completions"), ["POST"]);
    expect(await errorAnswer(error, gateway, own).text()).toBe(await errorAnswer(error, gateway, { endpoint: "chat" }).text());
  });
});

describe("an accepted request that fails", () => {
  const failed = (format?: { errors: ErrorShape }) =>
    answerFailure(
      { lifecycle, headers: { "x-a": "1" }, ...(format && { format }) },
      new GatewayError("upstream_error", { details }),
      null,
    );

  test("is answered in the endpoint's form, with its id and its headers", async () => {
    const response = await failed({ errors: shape });
    expect(response.headers.get("x-a")).toBe("1");
    expect(await response.json()).toEqual({ code: "upstream_error", details, request: "req-1" });
  });

  test("has the form of chat completions otherwise, which has no place for details", async () => {
    const { message, type } = new GatewayError("upstream_error");
    const body = { error: { message, type, code: "upstream_error", param: null } };
    expect(await (await failed()).json()).toEqual(body);
    expect(await (await failed({ errors: chatErrors })).json()).toEqual(body);
  });
});
