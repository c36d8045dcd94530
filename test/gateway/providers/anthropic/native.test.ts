/** A client's own request to Messages at Anthropic: what reaches the model as it is, what is fitted, and what never leaves. */
import { describe, expect, test } from "bun:test";
import { messagesFormat } from "../../../../src/gateway/api/messages/request.ts";
import { checkRequest, type CheckedChat } from "../../../../src/gateway/api/request/chat-request.ts";
import { supportWords } from "../../../../src/gateway/api/request/requested-model.ts";
import { nameRejectedField } from "../../../../src/gateway/api/call/failures.ts";
import type { Model, Route } from "../../../../src/gateway/models/model.ts";
import type { ModelEntry } from "../../../../src/gateway/models/schema.ts";
import { anthropic } from "../../../../src/gateway/providers/registry.ts";
import type { ProviderCall } from "../../../../src/gateway/providers/provider.ts";
import { testGeneration } from "../../../support/providers/call.ts";
import { aModel } from "../../../support/providers/models.ts";
import {
  assistant,
  called,
  ephemeral,
  ignoredBy,
  result,
  said,
  system,
  tool,
  user,
  type Fields,
} from "../../api/messages/reading.ts";

const words = Object.keys(supportWords);
const entry = { id: "stub/model", supports: words, upstream_model: "claude-opus-4-8", max_output_tokens: 40_000 } as const;
const modelOf = (more: Partial<ModelEntry> = {}, native = true): Model =>
  aModel({ ...entry, thinking: "adaptive", ...more }, { format: "anthropic", native });
const claude = modelOf();
const signer = "stub_claude-opus-4-8";

function read(fields: Fields | string, model: Model = claude, version = "2023-06-01"): CheckedChat {
  const body =
    typeof fields === "string"
      ? fields
      : JSON.stringify({ model: "stub/model", max_tokens: 8_000, messages: [user("Hi")], ...fields });
  return checkRequest(new TextEncoder().encode(body), messagesFormat({ version }), { find: () => model }).chat;
}

interface Sent {
  headers: Record<string, string>;
  raw: string;
  body: Fields & { messages: { role: string; content: Fields[] }[]; system?: unknown; tools?: Fields[] };
}

function sent(fields: Fields | string, model: Model = claude, call: Partial<ProviderCall> & { version?: string } = {}): Sent {
  const { version, ...more } = call;
  const { body: chat } = read(fields, model, version);
  const [route] = model.routes as [Route];
  const one = { generation: testGeneration, route, chat, maxOutputTokens: 8_000, streamed: false, ...more };
  const { headers, body } = anthropic.encode(one);
  return { headers, raw: body, body: JSON.parse(body) as Sent["body"] };
}

const turns = (...messages: Fields[]) => sent({ messages }).body.messages;
const thought = (seal: string, by = signer): Fields => ({ type: "thinking", thinking: "Hm.", signature: `w1.${by}.${seal}` });
const bash = { name: "Bash", description: "Runs", input_schema: { type: "object", properties: {} } };

describe("what the client wrote", () => {
  const messages = [
    user([said("<system-reminder>a</system-reminder>"), said("Fix it")]),
    assistant([said("First."), called("toolu_1", "Bash", { command: "ls", timeout: 1.5 }), said("Then.")]),
    user([result("toolu_1", [said("a.ts"), { type: "tool_reference", tool_name: "Later" }], { is_error: false }), said("Go on")]),
  ];
  const tools = [bash, { name: "Later", input_schema: { type: "object" }, defer_loading: true }];
  const edits = [
    { type: "clear_tool_uses_20250919", trigger: { type: "input_tokens", value: 9 } },
    { type: "clear_thinking_20251015", keep: "all" },
  ];
  const fields: Fields = {
    system: [said("You are an agent."), said("A rule.", { cache_control: ephemeral })],
    messages,
    tools,
    thinking: { type: "adaptive", display: "omitted" },
    output_config: { effort: "high", format: { type: "json_schema", schema: { type: "object", minProperties: 1 } } },
    context_management: { edits },
    tool_choice: { type: "auto", disable_parallel_tool_use: true },
    stop_sequences: ["END"],
  };

  test("reaches the model block by block, with what a chat has no place for", () => {
    expect(sent(fields).body).toEqual({ ...fields, model: "claude-opus-4-8", max_tokens: 8_000 } as never);
  });

  test("needs the betas of what is sent, whatever the client names, and keeps the client's version of the API", () => {
    expect(sent(fields).headers).toEqual({
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "context-management-2025-06-27,advanced-tool-use-2025-11-20",
    });
    expect(sent({}).headers).toEqual({ "anthropic-version": "2023-06-01" });
    expect(sent({}, claude, { version: "2026-10-21" }).headers).toEqual({ "anthropic-version": "2026-10-21" });
    expect(sent({}, claude, { version: "2027-01-01" }).headers).toEqual({ "anthropic-version": "2023-06-01" });
  });

  test("lists no hint as left out that is sent on", () => {
    expect(ignoredBy(fields, { model: claude })).toBeUndefined();
    expect(ignoredBy({ ...fields, output_config: { effort: "high" } }, { model: modelOf({}, false) })).toBe(
      "context_management, thinking.display",
    );
  });

  test("is converted for a provider that only resembles the API", () => {
    const { body, headers } = sent({ ...fields, output_config: { effort: "high" } }, modelOf({}, false));
    expect(body["context_management"]).toBeUndefined();
    expect(body.messages[1]?.content).toMatchObject([said("First."), said("Then."), { type: "tool_use" }]);
    expect(headers).toEqual({ "anthropic-version": "2023-06-01" });
  });
});

describe("what never leaves", () => {
  test("are labels, prices, and fields that say nothing to the model", () => {
    const { body, raw } = sent({
      metadata: { user_id: "someone-secret" },
      service_tier: "standard_only",
      diagnostics: {},
      usage: { include: true },
      system: [said("x-anthropic-billing-header: cch=1;"), said("Be brief.")],
      messages: [
        user([said("Hi", { citations: [{ a: "secret" }], cache_control: { type: "ephemeral", ttl: "1h", scope: "global" } })]),
        assistant([{ ...called("toolu_1", "Bash"), caller: { type: "secret" } }]),
        user([result("toolu_1", "ok")]),
      ],
      tools: [{ ...bash, eager_input_streaming: true, input_examples: [{ a: "secret" }], allowed_callers: ["direct"] }],
    });
    expect(Object.keys(body).toSorted()).toEqual(["max_tokens", "messages", "model", "system", "tools"]);
    expect(raw).not.toMatch(/secret|billing|ttl|scope|eager|caller/);
    expect(body.messages[0]?.content).toEqual([said("Hi", { cache_control: ephemeral })]);
  });

  test("is a value that a repeated key hides", () => {
    const raw =
      '{"model":"stub/model","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"hidden","text":"shown"}]}]}';
    expect(sent(raw).body.messages).toEqual([{ role: "user", content: [said("shown")] }]);
    expect(sent(raw).raw).not.toContain("hidden");
  });

  test.each<[string, Fields]>([
    ["of another model", thought("c2VhbA==", "stub_claude-other")],
    ["without a signature", { type: "thinking", thinking: "Hm.", signature: "" }],
    ["without a seal", thought("")],
    ["of someone else", { type: "thinking", thinking: "Hm.", signature: "sig==" }],
    ["encrypted, of someone else", { type: "redacted_thinking", data: "ZW5j" }],
  ])("is a thought %s", (_, foreign) => {
    expect(turns(user("a"), assistant([foreign, said("b")]), user("c"))).toEqual(
      turns(user("a"), assistant([said("b")]), user("c")),
    );
  });

  test("is a message of thoughts alone, and a thought with nothing behind it", () => {
    const plain = turns(user("a"), user("c"));
    expect(turns(user("a"), assistant([thought("c2VhbA==")]), user("c"))).toEqual(plain);
    expect(turns(user("a"), assistant([said("b"), thought("c2VhbA==")]), user("c"))[1]?.content).toEqual([said("b")]);
  });
});

describe("the model's own thoughts", () => {
  const seal = 'Ev"o+/=.é w1.x.';
  const messages = [
    user("a"),
    assistant([thought(seal), said("One."), { type: "redacted_thinking", data: `w1.${signer}.ZW5j` }, called("toolu_1", "Bash")]),
    user([result("toolu_1", "ok")]),
    assistant([thought("c2Vjb25k"), said("Two.")]),
    user("b"),
  ];

  test("come back to it in every turn, byte for byte and in their places", () => {
    const sentTurns = sent({ messages, thinking: { type: "adaptive" } }).body.messages;
    expect(sentTurns[1]?.content).toEqual([
      { type: "thinking", thinking: "Hm.", signature: seal },
      said("One."),
      { type: "redacted_thinking", data: "ZW5j" },
      called("toolu_1", "Bash"),
    ]);
    expect(sentTurns[3]?.content[0]).toEqual({ type: "thinking", thinking: "Hm.", signature: "c2Vjb25k" });
  });

  test("are taken out of a second attempt, with their texts and calls left", () => {
    const { body, raw } = sent({ messages }, claude, { withoutThoughts: true });
    expect(raw).not.toContain("thinking");
    expect(body.messages[1]?.content).toEqual([said("One."), called("toolu_1", "Bash")]);
  });

  test("are dropped by the API, and no reason to refuse, where it binds them to what precedes them", () => {
    const { body, headers } = sent({ messages, thinking: { type: "adaptive" } }, modelOf({ thinking_bound: true }));
    expect(body["thinking"]).toEqual({ type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } });
    expect(headers["anthropic-beta"]).toBe("thinking-binding-controls-2026-08-01");
  });
});

describe("breakpoints", () => {
  const mark = { cache_control: ephemeral };

  test("beyond four: the last ones stay", () => {
    const { body } = sent({
      tools: [{ ...bash, ...mark }],
      system: [said("a", mark), said("b", mark)],
      messages: [user([said("c", mark)]), assistant([said("d", mark)]), user([said("e", mark)])],
    });
    expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(4);
    expect(body.tools).toEqual([bash]);
    expect(body.system).toEqual([said("a"), said("b", mark)]);
  });

  test("on thoughts and blank texts are dropped, and one within a result stands on the result", () => {
    const [, answer, results] = sent({
      messages: [
        user([said("a"), said(" \n", mark)]),
        assistant([{ ...thought("c2VhbA=="), ...mark }, called("toolu_1", "Bash")]),
        user([result("toolu_1", [said("ok", mark)])]),
      ],
    }).body.messages;
    expect(answer?.content[0]).toEqual({ type: "thinking", thinking: "Hm.", signature: "c2VhbA==" });
    expect(results?.content).toEqual([result("toolu_1", [said("ok")], mark)]);
  });
});

describe("an instruction behind the user's first words", () => {
  const late = modelOf({ late_instructions: true });
  const reminder = said("<system-reminder>\nNow in French.\n</system-reminder>");
  const messages = [system("Early."), user("a"), system("Now in French."), assistant("b"), user("c")];

  test("stays in its place: as it is where the model takes it there, else as a reminder", () => {
    const [taken, spoken] = [sent({ messages }, late).body, sent({ messages }).body];
    expect(taken.messages.map(({ role }) => role)).toEqual(["user", "system", "assistant", "user"]);
    expect(taken.messages[1]?.content).toEqual([said("Now in French.")]);
    expect(spoken.messages[0]?.content).toEqual([said("a"), reminder]);
    for (const { system: instructions } of [taken, spoken]) expect(instructions).toBe("Early.");
  });

  test("waits for the results of the calls before it", () => {
    const loop = [
      user("a"),
      assistant([called("toolu_1", "Bash")]),
      system("Now in French."),
      user([said("b"), result("toolu_1", "ok")]),
    ];
    expect(sent({ messages: loop }).body.messages.at(-1)?.content).toEqual([result("toolu_1", "ok"), reminder, said("b")]);
    expect(sent({ messages: loop }, late).body.messages.slice(2)).toEqual([
      { role: "user", content: [result("toolu_1", "ok")] },
      { role: "system", content: [said("Now in French.")] },
      { role: "user", content: [said("b")] },
    ]);
  });
});

describe("thinking and effort are fitted to the model", () => {
  const budget = { thinking: "budget", upstream_model: "claude-haiku-4-5" } as const;
  test.each<[string, Partial<ModelEntry>, Fields, Fields]>([
    ["adaptive", {}, { thinking: { type: "adaptive" } }, { thinking: { type: "adaptive" } }],
    ["no thinking asked for", {}, {}, {}],
    ["an effort alone", {}, { output_config: { effort: "max" } }, { output_config: { effort: "max" } }],
    [
      "an effort that the model lacks",
      { efforts: ["low", "medium"] },
      { output_config: { effort: "max" } },
      { output_config: { effort: "medium" } },
    ],
    [
      "the effort of a later instruction",
      {},
      { messages: [user("a"), { ...system("b"), output_config: { effort: "low" } }] },
      { output_config: { effort: "low" } },
    ],
    [
      "a budget at an adaptive model",
      {},
      { thinking: { type: "enabled", budget_tokens: 5_000 } },
      { thinking: { type: "adaptive" }, output_config: { effort: "medium" } },
    ],
    [
      "a budget",
      budget,
      { thinking: { type: "enabled", budget_tokens: 5_000 } },
      { thinking: { type: "enabled", budget_tokens: 5_000 } },
    ],
    [
      "a budget above the bound",
      budget,
      { thinking: { type: "enabled", budget_tokens: 31_999 } },
      { thinking: { type: "enabled", budget_tokens: 6_400 } },
    ],
    [
      "adaptive at a model with budgets",
      budget,
      { thinking: { type: "adaptive" } },
      { thinking: { type: "enabled", budget_tokens: 6_400 } },
    ],
    [
      "switched off",
      {},
      { thinking: { type: "disabled" }, output_config: { effort: "max" } },
      { thinking: { type: "disabled" } },
    ],
    [
      "switched off at a model that always thinks",
      { thinking_off: "never" },
      { thinking: { type: "disabled" } },
      { output_config: { effort: "low" } },
    ],
    ["with a forced call", {}, { thinking: { type: "adaptive" }, tools: [bash], tool_choice: { type: "any" } }, {}],
    [
      "between tools",
      { thinking_off: "between_tools" },
      { thinking: { type: "between_tools" } },
      { thinking: { type: "between_tools" } },
    ],
    ["between tools at another model", {}, { thinking: { type: "between_tools" } }, { thinking: { type: "adaptive" } }],
  ])("%s", (_, more, asked, expected) => {
    const { thinking, output_config } = sent(asked, modelOf(more)).body;
    expect({ thinking, output_config }).toEqual({ thinking: undefined, output_config: undefined, ...expected } as never);
  });

  test("nothing clears thoughts where the model does not think", () => {
    const edits = [{ type: "clear_thinking_20251015", keep: "all" }];
    expect(sent({ context_management: { edits }, thinking: { type: "disabled" } }).body["context_management"]).toBeUndefined();
  });
});

test("all that is sent is reserved, also tools that the model must not see yet", () => {
  const deferred = { name: "Later", description: "x".repeat(3_000), input_schema: { type: "object" }, defer_loading: true };
  const fields = {
    system: "é".repeat(500),
    messages: [user("a"), assistant([thought("A".repeat(900)), said("b")]), user("c")],
    tools: [deferred],
  };
  const { inputTokens } = read(fields);
  const { tools } = sent(fields).body;
  expect(inputTokens).toBeGreaterThanOrEqual(Buffer.byteLength(JSON.stringify({ ...fields, tools })));
});

test("a turn is sent alike, whatever follows it", () => {
  const messages = [
    user([said("a", { cache_control: ephemeral })]),
    system("Late."),
    assistant([thought("c2VhbA=="), said("b"), called("call.1", "Bash", { "10": 1, "2": [] })]),
    user([result("call.1", "ok")]),
    assistant([said("c"), called("call.1", "Bash")]),
    user([said("d"), result("call.1", [])]),
    assistant("e "),
    user("f"),
  ];
  const all = sent({ messages }).body.messages.map((turn) => JSON.stringify(turn));
  for (const count of [2, 4, 6, 8]) {
    const some = sent({ messages: messages.slice(0, count) }).body.messages.map((turn) => JSON.stringify(turn));
    expect(all.slice(0, some.length)).toEqual(some);
  }
});

test("a field that the provider refuses has the client's place", () => {
  const messages = [
    system("Early."),
    user([said(" "), said("a")]),
    assistant([thought("c2VhbA=="), said("b")]),
    user("c"),
    system("Late."),
    assistant([said("d"), called("toolu_1", "Bash")]),
    user([said("e"), result("toolu_1", "ok")]),
  ];
  const chat = read({ system: [said("x-anthropic-billing-header: 1"), said("Rule.")], messages, tools: [tool("Bash")] });
  const [route] = claude.routes as [Route];
  const named = (field: string): string | null => {
    const failure = anthropic.classify(
      400,
      JSON.stringify({ type: "error", error: { type: "invalid_request_error", message: `${field}: Input is wrong` } }),
    );
    nameRejectedField(failure, chat, { model: claude, route } as never);
    return (failure as { param?: string | null }).param ?? null;
  };
  expect(named("messages.0.content.0.text")).toBe("messages[1].content[1].text");
  expect(named("messages.1.content.1.text")).toBe("messages[2]");
  expect(named("messages.2.content.1.text")).toBe("messages[4].content");
  expect(named("messages.3.content.1.tool_use.input")).toBe("messages[5].content[1].input");
  expect(named("messages.4.content.0.tool_use_id")).toBe("messages[6].content[1].tool_use_id");
  expect(named("system.1.text")).toBe("messages[0].content");
  expect(named("tools.0.custom.input_schema")).toBe("tools[0].input_schema");
});
