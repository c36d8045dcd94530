/** What the catalog may say of a provider's own way. */
import { expect, test } from "bun:test";
import { parseCatalog, readCatalog } from "../../../src/gateway/models/catalog.ts";
import type { Dialect } from "../../../src/gateway/models/dialect.ts";
import { wholeCatalog } from "../../support/providers/catalogs.ts";
import { stubProvider } from "../../support/providers/stub-catalog.ts";

const seen = { source: "https://example.com/report", seen: "2026-11-28" };

function dialectOf(dialect: unknown, format = "openai"): Dialect | undefined {
  const text = JSON.stringify([{ ...stubProvider(), format, ...(dialect === undefined ? {} : { dialect }) }]);
  const files = { digest: "", providers: { name: "providers.json", text }, models: [] };
  return parseCatalog(files, { sandbox: false }).providers.get("stub")?.dialect;
}

test("a provider without facts gets what every provider of its format is known to take", () => {
  const usual = dialectOf(undefined);
  expect(usual).toMatchObject({ developerRole: false, instructions: "one_first", refusals: false, toolCallIds: "characters_40" });
  expect(usual).toMatchObject({ messageNames: "any", textParts: true, nullContent: true, reasoningContent: "as_sent" });
  expect(dialectOf(undefined, "anthropic")).toMatchObject({ developerRole: true, toolCallIds: "any" });
});

test("a fact stands in place of the usual, and the others stay", () => {
  const dialect = { tool_call_ids: { value: "alphanumeric_9", ...seen } };
  expect(dialectOf(dialect)).toEqual({ ...(dialectOf(undefined) as Dialect), toolCallIds: "alphanumeric_9" });
});

test.each([
  ["without a source", { developer_role: { value: true, seen: "2026-11-28" } }, "dialect.developer_role.source"],
  ["without its day", { developer_role: { value: true, source: seen.source } }, "dialect.developer_role.seen"],
  [
    "from a place that is no address",
    { developer_role: { value: true, ...seen, source: "a friend" } },
    "dialect.developer_role.source",
  ],
  ["with an unknown value", { tool_call_ids: { value: "short", ...seen } }, "dialect.tool_call_ids.value"],
  ["with an unknown name", { devloper_role: { value: true, ...seen } }, "dialect.devloper_role"],
])("a fact %s is refused, and the message names it", (_, dialect, field) => {
  expect(() => dialectOf(dialect)).toThrow(`Cannot read catalog file providers.json: stub: ${field}: `);
});

test("the shipped facts hold for the providers of whom they were reported", async () => {
  const { providers } = await readCatalog(wholeCatalog, { sandbox: false });
  const of = (id: string) => providers.get(id)?.dialect;
  expect(of("openai")).toMatchObject({ developerRole: true, refusals: true, reasoningContent: "never" });
  expect(of("mistral")).toMatchObject({ toolCallIds: "alphanumeric_9", messageNames: "none", userAfterTool: false });
  expect(of("mistral")).toMatchObject({ instructions: "one_first", endsWithUser: true });
  for (const id of ["moonshot", "xiaomi"]) expect(of(id)?.reasoningContent).toBe("required");
  for (const id of ["groq", "cerebras"]) expect(of(id)?.reasoningContent).toBe("as_reasoning");
});
