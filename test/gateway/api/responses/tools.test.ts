/** How the tools of a request become those of a chat, and how a model's call finds its way back. */
import { describe, expect, test } from "bun:test";
import type { Body } from "../../../support/gateway/check-chat.ts";
import { everything, nothing } from "../../../support/gateway/check-chat.ts";
import { checkResponse, ignoredOf, plain, refusalOf } from "../../../support/gateway/check-response.ts";
import { sentName } from "../../../../src/gateway/api/responses/tools.ts";
import { chatModel } from "../../../support/providers/model.ts";
import { recorded } from "./recorded/recorded.ts";

const lookUp = { type: "function", name: "look_up", description: "Looks up", parameters: { type: "object" }, strict: null };
const grammar = { type: "grammar", syntax: "lark", definition: 'start: "x"' };
const patch = { type: "custom", name: "apply_patch", description: "Patches", format: grammar };
const search = { type: "tool_search", execution: "client", description: "Searches", parameters: { type: "object" } };
const space = (name: string, ...tools: object[]) => ({ type: "namespace", name, description: "d", tools });
const web = { type: "web_search", external_web_access: false };

const toolsOf = (fields: Body, model = everything): Body[] => (checkResponse(fields, model).chat.body["tools"] ?? []) as Body[];
const namesOf = (fields: Body, model = everything): unknown[] =>
  toolsOf(fields, model).map((tool) => (tool[String(tool["type"])] as Body)["name"]);

test("a function has chat's form, and is strict only if it says so", () => {
  const strict = { ...lookUp, name: "strict", strict: true };
  expect(JSON.parse(JSON.stringify(toolsOf({ tools: [lookUp, strict] })))).toEqual([
    { type: "function", function: { name: "look_up", description: "Looks up", parameters: { type: "object" } } },
    { type: "function", function: { name: "strict", description: "Looks up", parameters: { type: "object" }, strict: true } },
  ]);
});

describe("a custom tool", () => {
  test("goes on as one where the model has them", () => {
    expect(toolsOf({ tools: [patch, { type: "custom", name: "free", format: { type: "text" } }] })).toMatchObject([
      {
        type: "custom",
        custom: {
          name: "apply_patch",
          description: "Patches",
          format: { type: "grammar", grammar: { syntax: "lark", definition: 'start: "x"' } },
        },
      },
      { type: "custom", custom: { name: "free" } },
    ]);
  });

  test("is a function with one text elsewhere, with its grammar in the description", () => {
    expect(toolsOf({ tools: [patch] }, plain)).toMatchObject([
      {
        type: "function",
        function: {
          name: "apply_patch",
          description: 'Patches\n\nThe input must follow this lark grammar:\nstart: "x"',
          parameters: { type: "object", properties: { input: { type: "string" } }, required: ["input"] },
        },
      },
    ]);
  });

  test("has at most 16 KiB of its grammar there", () => {
    const long = { ...patch, format: { ...grammar, definition: "x".repeat(100_000) } };
    expect(JSON.stringify(toolsOf({ tools: [long] }, plain)).length).toBeLessThan(17_000);
  });
});

describe("a tool of a namespace", () => {
  test("has the namespace in its name", () => {
    expect(namesOf({ tools: [space("clock", { ...lookUp, name: "sleep" }), space("a", patch)] }, plain)).toEqual([
      "clock__sleep",
      "a__apply_patch",
    ]);
  });

  test("has a name that models take, however long both are, and always the same", () => {
    const name = sentName("n".repeat(64), "s".repeat(64));
    expect(name).toMatch(/^s{54}__[\da-f]{8}$/);
    expect(name).not.toBe(sentName("m".repeat(64), "s".repeat(64)));
    expect(sentName("n".repeat(64), "s".repeat(64))).toBe(name);
  });

  test("may not have the name of another tool", () => {
    const tools = [{ ...lookUp, name: "clock__sleep" }, space("clock", { ...lookUp, name: "sleep" })];
    expect(refusalOf({ tools })).toBe("invalid_request tools[1].tools[0].name");
    expect(refusalOf({ tools: [lookUp, lookUp] })).toBe("invalid_request tools[1].name");
  });
});

describe("tools within the input", () => {
  const user = { role: "user", content: "Hi" };
  const additional = (...tools: object[]) => ({ type: "additional_tools", role: "developer", tools });
  const found = (...tools: object[]) => [
    { type: "tool_search_call", call_id: "s", execution: "client", arguments: { query: "x" }, status: "completed" },
    { type: "tool_search_output", call_id: "s", execution: "client", status: "completed", tools },
  ];

  test("reach the model without any in `tools`", () => {
    expect(namesOf({ input: [additional(space("clock", { ...lookUp, name: "sleep" }), patch), user] })).toEqual([
      "clock__sleep",
      "apply_patch",
    ]);
    expect(namesOf({ ...recorded("codex-gpt-6-additional-tools"), model: "acme/one" }, plain)).toContain("functions__exec");
  });

  test("that a search found join the others at their end, and their names are the result", () => {
    const fields = {
      tools: [lookUp, search, { ...lookUp, name: "hidden", defer_loading: true }],
      input: [user, ...found({ ...lookUp, name: "new", defer_loading: true })],
    };
    expect(namesOf(fields)).toEqual(["look_up", "tool_search", "new"]);
    expect(checkResponse(fields).chat.body.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", tool_calls: [{ id: "s", function: { name: "tool_search", arguments: '{"query":"x"}' } }] },
      { role: "tool", tool_call_id: "s", content: "Loaded: new" },
    ]);
  });

  test("that were found twice are there once", () => {
    const one = { ...lookUp, name: "new" };
    expect(namesOf({ tools: [search], input: [user, ...found(one), ...found(one)] })).toEqual(["tool_search", "new"]);
    expect(
      refusalOf({ tools: [search], input: [user, ...found(one), ...found(space("n", one), { ...patch, name: "new" })] }),
    ).toBe("invalid_request input[4].tools[1].name");
  });

  test("are checked as all others are, with their paths", () => {
    expect(refusalOf({ input: [user, additional({ type: "mcp" })] })).toBe("unsupported_parameter input[1].tools[0].type");
    expect(refusalOf({ input: [user, additional(space("n", { type: "function", name: "a b" }))] })).toBe(
      "invalid_request input[1].tools[0].tools[0].name",
    );
    expect(refusalOf({ input: [user, additional(lookUp)] }, nothing)).toBe("unsupported_parameter input");
  });
});

describe("web search", () => {
  test("is left out and listed with its place", () => {
    expect(namesOf({ tools: [lookUp, web] })).toEqual(["look_up"]);
    expect(ignoredOf({ tools: [lookUp, web, { type: "web_search_preview" }] })).toEqual(["tools[1]", "tools[2]"]);
    expect(ignoredOf({ ...recorded("codex-gpt-5.5"), model: "acme/one" })).toEqual(["tools[9]"]);
  });

  test("is not in the tools that the answer repeats", () => {
    const { format } = checkResponse({ tools: [lookUp, web] });
    const facts = { id: "gen-a", created: 1, model: "", signer: "", usage: {} } as never;
    const answer: Body = JSON.parse(
      format.wholeText(
        { message: { role: "assistant", content: "", refusal: null }, finishReason: "stop", logprobs: null, usage: null },
        facts,
      ),
    );
    expect(answer["tools"]).toEqual([{ ...lookUp, strict: false }]);
  });

  test("cannot be forced", () => {
    expect(refusalOf({ tools: [web], tool_choice: "auto" })).toBeNull();
    expect(refusalOf({ tools: [web], tool_choice: "required" })).toBe("invalid_request tool_choice");
    expect(refusalOf({ tools: [lookUp, web], tool_choice: { type: "web_search" } })).toBe("unsupported_parameter tool_choice");
  });
});

describe("the choice of a tool", () => {
  const tools = [lookUp, patch, space("clock", { ...lookUp, name: "sleep" })];
  const choiceOf = (tool_choice: unknown, model = everything): unknown =>
    checkResponse({ tools, tool_choice }, model).chat.body["tool_choice"];

  test("has chat's form", () => {
    expect(choiceOf("required")).toBe("required");
    expect(choiceOf({ type: "function", name: "look_up" })).toEqual({ type: "function", function: { name: "look_up" } });
    expect(choiceOf({ type: "custom", name: "apply_patch" })).toEqual({ type: "custom", custom: { name: "apply_patch" } });
    expect(choiceOf({ type: "function", name: "sleep", namespace: "clock" })).toEqual({
      type: "function",
      function: { name: "clock__sleep" },
    });
    expect(choiceOf({ type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "look_up" }] })).toEqual({
      type: "allowed_tools",
      allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "look_up" } }] },
    });
  });

  test("of a custom tool is that of a function where the model has none", () => {
    expect(choiceOf({ type: "custom", name: "apply_patch" }, plain)).toEqual({
      type: "function",
      function: { name: "apply_patch" },
    });
  });

  test.each<[unknown, string]>([
    [{ type: "function", name: "other" }, "invalid_request tool_choice.name"],
    [{ type: "function" }, "invalid_request tool_choice.name"],
    [{ type: "mcp", server_label: "x" }, "unsupported_parameter tool_choice"],
    [{ type: "allowed_tools", mode: "any", tools: [] }, "invalid_request tool_choice.mode"],
    [{ type: "allowed_tools", mode: "auto" }, "invalid_request tool_choice.tools"],
    [{ type: "allowed_tools", mode: "auto", tools: [{ type: "file_search" }] }, "unsupported_parameter tool_choice.tools[0]"],
    ["sometimes", "invalid_request tool_choice"],
    [7, "invalid_request tool_choice"],
  ])("is refused: %j", (tool_choice, expected) => {
    expect(refusalOf({ tools, tool_choice })).toBe(expected);
  });

  test("and calls at once need tools", () => {
    expect(refusalOf({ tool_choice: "required" })).toBe("invalid_request tool_choice");
    expect(checkResponse({ tool_choice: "auto", parallel_tool_calls: false }).chat.body).not.toHaveProperty(
      "parallel_tool_calls",
    );
    expect(checkResponse({ tools, parallel_tool_calls: false }).chat.body).toMatchObject({ parallel_tool_calls: false });
    expect(refusalOf({ tools, parallel_tool_calls: "no" })).toBe("invalid_request parallel_tool_calls");
  });

  test("cannot be forced where the model refuses that", () => {
    expect(refusalOf({ tools, tool_choice: "required" }, chatModel(["tools"], { refusesForcedTools: true }))).toBe(
      "unsupported_parameter tool_choice",
    );
  });
});

describe("the gateway refuses", () => {
  test.each<[unknown, string]>([
    [{}, "invalid_request tools"],
    [[7], "invalid_request tools[0]"],
    [[{}], "invalid_request tools[0].type"],
    [[{ type: "file_search", vector_store_ids: [] }], "unsupported_parameter tools[0].type"],
    [[{ type: "computer" }], "unsupported_parameter tools[0].type"],
    [[{ type: "constructor" }], "unsupported_parameter tools[0].type"],
    [[{ type: "tool_search" }], "unsupported_parameter tools[0].execution"],
    [[{ type: "tool_search", execution: "server" }], "unsupported_parameter tools[0].execution"],
    [[{ type: "function" }], "invalid_request tools[0].name"],
    [[{ type: "function", name: "a b" }], "invalid_request tools[0].name"],
    [[{ ...lookUp, parameters: "x" }], "invalid_request tools[0].parameters"],
    [[{ ...lookUp, zebra: 1 }], "unsupported_parameter tools[0].zebra"],
    [[{ ...patch, format: { type: "grammar", syntax: "ebnf", definition: "" } }], "invalid_request tools[0].format.syntax"],
    [[{ type: "namespace", name: "n" }], "invalid_request tools[0].tools"],
    [[space("n", search)], "unsupported_parameter tools[0].tools[0].type"],
    [[space("n", space("m", lookUp))], "unsupported_parameter tools[0].tools[0].type"],
  ])("%j", (tools, expected) => {
    expect(refusalOf({ tools })).toBe(expected);
  });

  test("tools of a model without", () => {
    expect(refusalOf({ tools: [lookUp] }, nothing)).toBe("unsupported_parameter tools");
    expect(refusalOf({ tools: [] }, nothing)).toBeNull();
  });
});
