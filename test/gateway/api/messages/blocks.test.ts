/** The conversation of a request to Messages: every message becomes messages of a chat, in the order that providers want. */
import { describe, expect, test } from "bun:test";
import { apart } from "../../../../src/gateway/providers/provider.ts";
import { wrappedSeal } from "../../../../src/gateway/thoughts.ts";
import { chatModel } from "../../../support/providers/model.ts";
import { nothing } from "../../../support/gateway/check-chat.ts";
import { route } from "../../../support/providers/routes.ts";
import {
  assistant,
  bodyOf,
  called,
  checked,
  ephemeral,
  ignoredBy,
  messagesOf,
  problemOf,
  refusal,
  result,
  said,
  system,
  tool,
  user,
  type Fields,
} from "./reading.ts";

const seal = wrappedSeal({ signer: "A", seal: "S=" });
const factsOf = (...messages: Fields[]) => checked({ messages }).chat.body.messages.map((message) => message[apart]);
const call = (id: string, name: string, args: string) => ({ id, type: "function", function: { name, arguments: args } });

test("results of tools come first, each as a message, then what the user says", () => {
  const asked = assistant([said("Looking."), called("1", "a", { x: 1 }), called("2", "b")]);
  expect(messagesOf(user("Go"), asked, user([said("And now?"), result("2", "two"), result("1", [said("one")])]))).toEqual([
    { role: "user", content: "Go" },
    { role: "assistant", content: "Looking.", tool_calls: [call("1", "a", '{"x":1}'), call("2", "b", "{}")] },
    { role: "tool", tool_call_id: "2", content: "two" },
    { role: "tool", tool_call_id: "1", content: "one" },
    { role: "user", content: "And now?" },
  ]);
});

describe("calls and results", () => {
  const asked = assistant([called("1")]);

  test.each<[string, Fields[]]>([
    ["invalid_request messages[1]", [user("a"), asked, user("b")]],
    ["invalid_request messages[1]", [user("a"), asked]],
    ["invalid_request messages[1]", [user("a"), asked, assistant("b"), user("c")]],
    ["invalid_request messages[1]", [user("a"), asked, system("b"), assistant("c"), user("d")]],
    ["invalid_request messages[2].content[0].tool_use_id", [user("a"), asked, user([result("2", "x")])]],
    ["invalid_request messages[0].content[1].tool_use_id", [user([said("a"), result("1", "x")])]],
    ["invalid_request messages[2].content[1].tool_use_id", [user("a"), asked, user([result("1", "x"), result("1", "y")])]],
    ["invalid_request messages[1].content[1].id", [user("a"), assistant([called("1"), called("1")]), user([result("1", "x")])]],
  ])("%s for %p", (refused, messages) => expect(refusal({ messages })).toBe(refused));

  test("an instruction between them comes behind the results", () => {
    expect(messagesOf(user("a"), asked, system("b"), user([result("1", "x"), said("c")]))).toMatchObject([
      { role: "user" },
      { role: "assistant" },
      { role: "tool" },
      { role: "system", content: "b" },
      { role: "user", content: "c" },
    ]);
  });

  test("an id may come again in a later answer", () => {
    const turn = [asked, user([result("1", "x")])];
    expect(messagesOf(user("a"), ...turn, ...turn)).toHaveLength(5);
  });

  test("a failed tool is a fact apart, and its text is unchanged", () => {
    const messages = [user("a"), asked, user([result("1", "no such file", { is_error: true })])];
    expect(messagesOf(...messages)).toMatchObject([{}, {}, { role: "tool", content: "no such file" }]);
    expect(factsOf(...messages)[2]).toMatchObject({ isError: true });
  });

  test("a result may be empty", () => {
    expect(messagesOf(user("a"), asked, user([result("1", undefined)]))).toMatchObject([{}, {}, { content: "" }]);
  });

  test("a reference loads its tool and is a text to the model", () => {
    const tools = [tool("find"), tool("fetch", { defer_loading: true }), tool("other", { defer_loading: true })];
    const found = result("1", [{ type: "tool_reference", tool_name: "fetch" }]);
    const body = bodyOf({ tools, messages: [user("a"), assistant([called("1", "find")]), user([found])] });
    expect(body["tools"]).toMatchObject([{ function: { name: "find" } }, { function: { name: "fetch" } }]);
    expect(body["messages"]).toMatchObject([{}, {}, { content: "Tool fetch loaded" }]);
  });
});

describe("instructions", () => {
  test("`system` is the first one, in its parts", () => {
    expect(bodyOf({ system: [said("a"), said("b")] })["messages"]).toMatchObject([
      { role: "system", content: [said("a"), said("b")] },
      { role: "user" },
    ]);
    expect(bodyOf({ system: "a" })["messages"]).toMatchObject([{ role: "system", content: "a" }, {}]);
  });

  test("a text goes on unchanged", () => {
    const text = " You are  OpenCode \n\n\tand \u00e9\u{1f600} stay so.\r\n";
    expect(bodyOf({ system: [said(text)] })["messages"]).toMatchObject([{ content: text }, {}]);
  });

  test("the header that changes with every request is left out", () => {
    const header = said("x-anthropic-billing-header: cc_version=2.1; cch=00000;");
    expect(bodyOf({ system: [header, said("a")] })["messages"]).toMatchObject([{ role: "system", content: "a" }, {}]);
    expect(bodyOf({ system: [header] })["messages"]).toMatchObject([{ role: "user" }]);
  });

  test("behind the first words of the user one stays in its place, and is known as late", () => {
    const messages = [system("early"), user("a"), system([said("late")]), assistant("b"), user("c")];
    expect(messagesOf(...messages)).toMatchObject([
      { role: "system", content: "early" },
      { role: "user" },
      { role: "system", content: "late" },
      { role: "assistant" },
      { role: "user" },
    ]);
    expect(factsOf(...messages).map((facts) => facts?.late)).toEqual([undefined, undefined, true, undefined, undefined]);
  });
});

describe("breakpoints", () => {
  test("on a thought and on a blank text are dropped with it", () => {
    const marked = { cache_control: ephemeral };
    const thought = { type: "thinking", thinking: "hm", signature: seal, ...marked };
    const body = bodyOf({ messages: [user([said(" ", marked), said("a")]), assistant([thought, said("b")]), user("c")] });
    expect(JSON.stringify(body)).not.toContain("cache_control");
    expect(body["messages"]).toMatchObject([{ content: "a" }, { content: "b" }, {}]);
  });

  test("of five the last four are sent, and the field is named", () => {
    const marked = { cache_control: ephemeral };
    const fields = {
      tools: [tool("a", marked), tool("b")],
      system: [said("c", marked), said("d", marked)],
      messages: [user([said("e", marked)]), assistant([said("f", marked)]), user("g")],
    };
    const { tools, messages } = bodyOf(fields);
    expect(JSON.stringify(tools)).not.toContain("cache_control");
    expect(JSON.stringify(messages).match(/cache_control/g)).toHaveLength(4);
    expect(ignoredBy(fields)).toBe("cache_control");
    expect(ignoredBy({ ...fields, tools: [] })).toBeUndefined();
  });

  test("on a result stands on its last text, or goes with an empty one", () => {
    const marked = { cache_control: ephemeral };
    const turn = (content: unknown) => [user("a"), assistant([called("1")]), user([result("1", content, marked)])];
    expect(messagesOf(...turn("x"))).toMatchObject([{}, {}, { content: [{ text: "x", ...marked }] }]);
    expect(messagesOf(...turn(""))).toMatchObject([{}, {}, { content: "" }]);
  });

  test("a text is sent alike with and without a breakpoint that the model does not take", () => {
    const first = {
      system: [said("s", { cache_control: ephemeral })],
      messages: [user([said("a", { cache_control: ephemeral })])],
    };
    const next = { system: "s", messages: [user("a")] };
    expect(bodyOf(first, { model: nothing })).toEqual(bodyOf(next, { model: nothing }));
  });
});

describe("thoughts", () => {
  const thinking = (signature: string): Fields => ({ type: "thinking", thinking: "hm", signature });
  const thoughtsOf = (...blocks: Fields[]) => factsOf(user("a"), assistant(blocks), user([result("1", "x")]))[1]?.thoughts;

  test("of ours keep signer, seal and place, byte for byte", () => {
    expect(
      thoughtsOf(thinking(seal), called("1"), { type: "redacted_thinking", data: wrappedSeal({ signer: "B", seal: "D" }) }),
    ).toEqual([
      { signer: "A", seal: "S=", text: "hm", callsBefore: 0 },
      { signer: "B", seal: "D", text: "", redacted: true, callsBefore: 1 },
    ]);
  });

  test("of someone else, and without a signature, are left out", () => {
    expect(thoughtsOf(thinking("ErcBCkgIARABGAIiQL"), thinking(""), called("1"))).toBeUndefined();
    expect(messagesOf(user("a"), assistant([thinking("")]), user("b"))).toMatchObject([{ role: "user" }, { role: "user" }]);
  });

  test("appear in no field of the chat", () => {
    const messages = [user("a"), assistant([thinking(seal), said("b")]), user("c")];
    expect(JSON.stringify(checked({ messages }).chat.body)).not.toContain("hm");
  });
});

describe("what is not text", () => {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } };
  const words = "Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'";

  test("an image is refused in the words after which an agent goes on without it", () => {
    const refused = problemOf({ messages: [user([said("a"), image])] });
    expect(refused).toMatchObject({ code: "unsupported_parameter", param: "messages[0].content[1]" });
    expect(refused.message).toBe(`messages.0.content.1.image.source.base64.media_type: ${words}`);
  });

  test("one within a result has the place of the result", () => {
    const refused = problemOf({ messages: [user("a"), assistant([called("1")]), user([result("1", [said("x"), image])])] });
    expect(refused.param).toBe("messages[2].content[0]");
    expect(refused.message).toStartWith("messages.2.content.0.image.source.base64.media_type:");
  });

  test.each(["document", "search_result", "server_tool_use", "mcp_tool_use", "constructor"])("a block %s is refused", (type) => {
    expect(refusal({ messages: [user([{ type }])] })).toBe("unsupported_parameter messages[0].content[0]");
    expect(refusal({ messages: [user("a"), assistant([{ type }])] })).toBe("unsupported_parameter messages[1].content[0]");
  });
});

describe("a last message of the model", () => {
  const messages = [user("a"), assistant("{")];
  const claude = (form: "adaptive" | "budget") =>
    chatModel([], { routes: [{ ...route("acme"), format: "anthropic", thinking: { form, off: "disabled", isBound: false } }] });

  test("is refused, but where every route continues it", () => {
    expect(refusal({ messages })).toBe("unsupported_parameter messages[1]");
    expect(refusal({ messages }, { model: claude("adaptive") })).toBe("unsupported_parameter messages[1]");
    expect(bodyOf({ messages }, { model: claude("budget") })["messages"]).toMatchObject([
      {},
      { role: "assistant", content: "{" },
    ]);
  });
});

test("tens of thousands of empty blocks are no text", () => {
  const blocks = Array.from({ length: 60_000 }, () => said(""));
  expect(messagesOf(user([...blocks, said("a")]))).toEqual([{ role: "user", content: "a" }]);
});
