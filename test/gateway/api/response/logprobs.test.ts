import { describe, expect, test } from "bun:test";
import { logprobsBody } from "../../../../src/gateway/api/response/logprobs.ts";

describe("log probabilities are in the official form", () => {
  test("as they were told", () => {
    const hello = { token: "Hello", logprob: -0.5, bytes: [72, 101, 108, 108, 111] };
    const told = { content: [{ ...hello, top_logprobs: [hello] }], refusal: null };
    expect(logprobsBody(told)).toEqual(told);
  });

  test("with null and empty lists for what a provider leaves out, and without what it adds", () => {
    const told = { content: [{ token: "Hi", logprob: -1, id: 7, top_logprobs: [{ token: "Ho", logprob: -2 }, "nonsense"] }, 7] };
    expect(logprobsBody(told)).toEqual({
      content: [{ token: "Hi", logprob: -1, bytes: null, top_logprobs: [{ token: "Ho", logprob: -2, bytes: null }] }],
      refusal: null,
    });
    expect(logprobsBody({ refusal: [{}] })).toEqual({
      content: null,
      refusal: [{ token: "", logprob: 0, bytes: null, top_logprobs: [] }],
    });
  });

  test("null where there are none", () => {
    for (const told of [null, undefined, "none", [], {}, { content: "Hi" }, { content: [], refusal: null }]) {
      expect(logprobsBody(told)).toBeNull();
    }
  });
});
