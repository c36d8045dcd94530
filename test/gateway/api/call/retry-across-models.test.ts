import { describe, expect, test } from "bun:test";
import type { ProviderAnswer, UpstreamCode } from "../../../../src/gateway/providers/provider.ts";
import type { Candidates } from "../../../../src/gateway/api/call/route-plan.ts";
import { settled } from "../../../support/clock.ts";
import { failure, given, whole } from "../../../support/gateway/given-dispatch.ts";
import { candidate } from "../../../support/providers/candidates.ts";

describe("the retry of a request for several models", () => {
  const inOne = ["A", "B"].map((id) => candidate(id));
  const inTwo = ["A", "B"].map((id) => candidate(id, {}, { id: "acme/two" }));
  const [oneAtA, oneAtB, twoAtA, twoAtB] = [...inOne, ...inTwo];
  if (!oneAtA || !oneAtB || !twoAtA || !twoAtB) throw new Error("The test has four candidates");

  test.each<[UpstreamCode, string, Candidates, string[]]>([
    ["upstream_error", "the next candidate", [oneAtA, twoAtA, twoAtB], ["A", "A acme/two"]],
    ["upstream_error", "the same without another", [oneAtA], ["A", "A"]],
    [
      "upstream_rate_limited",
      "the next provider, even if another model comes first",
      [oneAtA, twoAtA, twoAtB],
      ["A", "B acme/two"],
    ],
    ["upstream_rate_limited", "the next model where one provider has all", [oneAtA, twoAtA], ["A", "A acme/two"]],
    ["upstream_rate_limited", "nothing for a sole candidate", [oneAtA], ["A"]],
    ["upstream_auth", "the next provider", [oneAtA, twoAtA, oneAtB], ["A", "B"]],
    ["upstream_auth", "nothing where one provider has all", [oneAtA, twoAtA], ["A"]],
    ["upstream_timeout", "the next provider", [oneAtA, twoAtA, twoAtB], ["A", "B acme/two"]],
    ["upstream_timeout", "nothing where one provider has all", [oneAtA, twoAtA], ["A"]],
    ["upstream_rejected", "nothing", [oneAtA, oneAtB, twoAtA], ["A"]],
  ])("after %s dispatch tries %s", async (code, _, candidates, expected) => {
    const { outcome, called } = given([failure(code), whole], { candidates });
    expect((await outcome).kind).toBe(expected.length === 2 ? "whole" : "failed");
    expect(called).toEqual(expected);
  });

  test("dispatch makes two calls at most, however many candidates there are", async () => {
    const failures = Array.from({ length: 4 }, () => failure("upstream_error"));
    const { outcome, called } = given(failures, { candidates: [oneAtA, oneAtB, twoAtA, twoAtB] });
    expect(await outcome).toMatchObject({ kind: "failed", candidate: oneAtB });
    expect(called).toEqual(["A", "B"]);
  });

  test("with fallbacks off a later model does not serve after a failure", async () => {
    const { outcome, called } = given([failure("upstream_error"), whole], { candidates: [oneAtA, twoAtB], fallbacks: false });
    expect((await outcome).kind).toBe("failed");
    expect(called).toEqual(["A"]);
  });

  test("dispatch reports each failed call with its time", async () => {
    let reject = (_: Error): void => {};
    const late = new Promise<ProviderAnswer>((_, rejectLate) => (reject = rejectLate));
    const { outcome, clock } = given([late, whole], { candidates: [oneAtA, twoAtB] });
    await settled();
    await clock.pass(70);
    reject(failure("upstream_error"));
    expect((await outcome).failed).toMatchObject([{ candidate: oneAtA, ms: 70, failure: { code: "upstream_error" } }]);
  });
});
