import { describe, expect, test } from "bun:test";
import { logprobsBody } from "../../../../src/gateway/api/response/logprobs.ts";

describe("log probabilities", () => {
  test("complete log probabilities stay unchanged", () => {
    const hello = { token: "Hello", logprob: -0.5, bytes: [72, 101, 108, 108, 111] };
    const reported = { content: [{ ...hello, top_logprobs: [hello] }], refusal: null };
    expect(logprobsBody(reported)).toEqual(reported);
  });

  test("fields that a provider omits become null or empty lists, and fields that it adds are dropped", () => {
    const reported = {
      content: [{ token: "Hi", logprob: -1, id: 7, top_logprobs: [{ token: "Ho", logprob: -2 }, "nonsense"] }, 7],
    };
    expect(logprobsBody(reported)).toEqual({
      content: [{ token: "Hi", logprob: -1, bytes: null, top_logprobs: [{ token: "Ho", logprob: -2, bytes: null }] }],
      refusal: null,
    });
    expect(logprobsBody({ refusal: [{}] })).toEqual({
      content: null,
      refusal: [{ token: "", logprob: 0, bytes: null, top_logprobs: [] }],
    });
  });

  test("absent log probabilities become null", () => {
    for (const reported of [null, undefined, "none", [], {}, { content: "Hi" }, { content: [], refusal: null }]) {
      expect(logprobsBody(reported)).toBeNull();
    }
  });
});
