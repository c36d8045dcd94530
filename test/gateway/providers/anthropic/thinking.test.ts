import { describe, expect, test } from "bun:test";
import { anthropic } from "../../../../src/gateway/providers/registry.ts";
import type { ModelEntry } from "../../../../src/gateway/models/schema.ts";
import { testGeneration } from "../../../support/providers/call.ts";
import { aRoute } from "../../../support/providers/models.ts";

const messages = [{ role: "user", content: "Hello" }];
const tools = [{ type: "function", function: { name: "go" } }];

function sent(entry: Partial<ModelEntry>, chat: object, maxOutputTokens = 64_000): Record<string, unknown> {
  const route = aRoute({ format: "anthropic" }, entry);
  const call = { generation: testGeneration, route, chat: { model: "stub/model", messages, ...chat }, maxOutputTokens };
  return JSON.parse(anthropic.encode({ ...call, streamed: false }).body);
}

describe("a model that thinks by itself", () => {
  const adaptive = { thinking: "adaptive" as const };

  test("gets the effort, and tells its reasoning", () => {
    for (const effort of ["low", "medium", "high", "xhigh", "max"]) {
      const body = sent(adaptive, { reasoning_effort: effort });
      expect([body["thinking"], body["output_config"]]).toEqual([{ type: "adaptive", display: "summarized" }, { effort }]);
    }
  });

  test("gets the next lower effort in place of one that it does not take", () => {
    const older = { ...adaptive, efforts: ["low" as const, "medium" as const, "high" as const, "max" as const] };
    const efforts = ["minimal", "xhigh", "max"].map((effort) => sent(older, { reasoning_effort: effort })["output_config"]);
    expect(efforts).toEqual([{ effort: "low" }, { effort: "high" }, { effort: "max" }]);
  });

  test.each([
    ["disabled", { thinking: { type: "disabled" } }],
    ["between_tools", { thinking: { type: "between_tools" } }],
    ["never", { output_config: { effort: "low" } }],
  ] as const)("does not think with the effort none, as far as it can: %s", (off, expected) => {
    const { thinking, output_config } = sent({ ...adaptive, thinking_off: off }, { reasoning_effort: "none" });
    expect<object>({
      ...(thinking !== undefined && { thinking }),
      ...(output_config !== undefined && { output_config }),
    }).toEqual(expected);
  });

  test("does not get its own last words to go on with, which it refuses", () => {
    const begun = { messages: [...messages, { role: "assistant", content: "I think" }] };
    const last = { role: "user", content: [{ type: "text", text: "Continue." }] };
    expect(sent(adaptive, begun)["messages"]).toMatchObject([{}, { role: "assistant" }, last]);
    expect(sent({ thinking: "budget" }, begun)["messages"]).toMatchObject([{}, { role: "assistant" }]);
  });

  test("is left at its default without an effort", () => {
    expect(sent(adaptive, {})).not.toContainAnyKeys(["thinking", "output_config"]);
  });

  test.each([
    ["a call is forced", { tools, tool_choice: "required" }],
    ["a tool is named", { tools, tool_choice: { type: "function", function: { name: "go" } } }],
    ["a temperature is given", { temperature: 0.2 }],
    ["a low top_p is given", { top_p: 0.5 }],
  ])("is not told to think where %s, which it refuses together; the effort stays", (_, fields) => {
    const body = sent(adaptive, { reasoning_effort: "high", ...fields });
    expect(body).not.toContainKey("thinking");
    expect(body["output_config"]).toEqual({ effort: "high" });
  });

  test.each([
    ["a free choice", { tools, tool_choice: "auto" }],
    ["no call", { tools, tool_choice: "none" }],
    ["a high top_p", { top_p: 0.97 }],
    ["the default temperature", { temperature: 1 }],
  ])("thinks with %s", (_, fields) => {
    expect(sent(adaptive, { reasoning_effort: "high", ...fields })).toContainKey("thinking");
  });
});

describe("a model that takes a budget", () => {
  const budget = { thinking: "budget" as const };
  const budgetOf = (effort: string, maxOutputTokens: number) =>
    sent(budget, { reasoning_effort: effort }, maxOutputTokens)["thinking"] as
      { type: string; budget_tokens: number } | undefined;

  test("gets one by the effort, which it would refuse itself", () => {
    const budgets = ["minimal", "low", "medium", "high", "xhigh", "max"].map(
      (effort) => budgetOf(effort, 64_000)?.budget_tokens ?? 0,
    );
    expect(budgets).toEqual([2_048, 2_048, 8_192, 16_384, 32_768, 32_768]);
    expect(sent(budget, { reasoning_effort: "high" })).not.toContainKey("output_config");
  });

  test.each([1_025, 1_100, 2_000, 4_096, 10_000, 40_000, 64_000])(
    "keeps it below an answer of %i tokens, and leaves room",
    (most) => {
      for (const effort of ["low", "medium", "high", "max"]) {
        const { type, budget_tokens } = budgetOf(effort, most) ?? { type: "", budget_tokens: 0 };
        expect(type).toBe("enabled");
        expect(budget_tokens).toBeGreaterThanOrEqual(1_024);
        expect(budget_tokens).toBeLessThan(most);
      }
    },
  );

  test.each([1, 16, 1_024])("does not think in an answer of %i tokens, which has no room for the least budget", (most) => {
    expect(budgetOf("high", most)).toBeUndefined();
  });

  test("does not think without an effort, with none, or where a call is forced", () => {
    expect(sent(budget, {})).not.toContainAnyKeys(["thinking", "output_config"]);
    expect(sent(budget, { reasoning_effort: "none" })["thinking"]).toEqual({ type: "disabled" });
    const forced = sent(budget, { reasoning_effort: "high", tools, tool_choice: "required" });
    expect(forced).not.toContainAnyKeys(["thinking", "output_config"]);
    expect(sent(budget, { reasoning_effort: "high", temperature: 0.5 })).not.toContainAnyKeys(["thinking", "output_config"]);
  });
});
