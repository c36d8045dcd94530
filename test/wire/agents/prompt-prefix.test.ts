/**
 * Providers cache prompts by their beginning, and bind thoughts to what precedes them. Whatever an agent sends anew in each request, what a
 * provider gets begins with the bytes of the request before.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import type { JsonObject as Json } from "../../../src/http/json.ts";
import type { ProviderStub } from "../../support/providers/provider-stub.ts";
import type { Fleet } from "../../support/servers/fleet.ts";
import { formatsStage } from "../formats-stage.ts";
import { modelOf, stage } from "../stage.ts";
import { agentRequest, send, type Turn } from "./session.ts";
import { agentApis, thinkers } from "./thinkers.ts";
import { first, upstreams } from "../upstreams.ts";

const turns: Turn[] = [
  {
    answer: [
      { type: "text", text: "Looking." },
      { type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "ls", timeout: 1.5 } },
    ],
    next: [{ type: "tool_result", tool_use_id: "toolu_1", content: "a.ts", is_error: false }],
  },
  {
    answer: [{ type: "text", text: "One file." }],
    next: [{ type: "text", text: "Fix it" }],
  },
];

/** The prompt in the order of the request: instructions, tools, conversation, without breakpoints, which a cache does not compare. */
function promptIn(body: Json): { head: string; items: string[] } {
  const { system, systemInstruction, instructions, tools, messages, contents, input } = body;
  const items = (messages ?? contents ?? input) as unknown[];
  const plain = (value: unknown): string => JSON.stringify(value).replaceAll(/,"cache_control":\{"type":"ephemeral"\}/g, "");
  return { head: plain({ system, systemInstruction, instructions, tools }), items: items.map((item) => plain(asParts(item))) };
}

/** A text and a list of one text are the same prompt. */
function asParts(item: unknown): unknown {
  const { content, ...rest } = item as Json;
  return typeof content === "string" ? { ...rest, content: [{ type: "text", text: content }] } : item;
}

describe.each(upstreams)("behind $name", ({ name: format, streams }) => {
  let fleet: Fleet;
  let stub: ProviderStub;
  let key: string;
  const answer = first(streams, (one) => one.finishReason === "stop" && one.text !== "");

  beforeAll(async () => {
    const on = await stage("embedded");
    ({ fleet } = on);
    stub = on.stub(format);
    key = (await fleet.operator().customer({ credit: "10" })).keys[0]?.key ?? "";
  }, 90_000);

  async function sentFor(body: Json): Promise<Json> {
    stub.answerOnce(answer.answer);
    const response = await send(fleet, key, body);
    await response.text();
    expect(response.status).toBe(200);
    return stub.calls.at(-1)?.body ?? {};
  }

  test("each request of a session begins with what the one before sent", async () => {
    const sent = [];
    for (const count of [0, 1, 2]) sent.push(promptIn(await sentFor(agentRequest(modelOf(format), turns.slice(0, count)))));
    for (const [index, { head, items }] of sent.slice(1).entries()) {
      const before = sent[index];
      expect(head).toBe(before?.head ?? "");
      expect(items.slice(0, before?.items.length)).toEqual(before?.items ?? []);
      expect(items.length).toBeGreaterThan(before?.items.length ?? 0);
    }
  });

  test("a new instruction leaves all before it as it was, and the instructions too", async () => {
    const base = agentRequest(modelOf(format), turns);
    const messages = [...(base["messages"] as Json[]), { role: "system", content: "The date has changed." }];
    const [before, after] = [promptIn(await sentFor(base)), promptIn(await sentFor({ ...base, messages }))];
    expect(after.head).toBe(before.head);
    const joined = (items: string[]): string => items.join("\n").replaceAll(/[\]}\s]/g, "");
    expect(joined(after.items)).toStartWith(joined(before.items));
    expect(joined(after.items)).toContain("Thedatehaschanged.");
  });

  test("the instructions arrive unchanged, without the header of each request", async () => {
    const { head, items } = promptIn(await sentFor(agentRequest(modelOf(format))));
    const prompt = head + items.join("");
    expect(prompt).toContain("You are an agent.");
    expect(prompt).not.toContain("x-anthropic-billing-header");
    expect(prompt).not.toContain("DeferredToolPlaceholder");
    expect(prompt).not.toContain("clear_thinking");
  });
});

/** A call's body up to the end of its conversation. */
function upToTheEnd(raw: string): string {
  const { messages, contents, input } = JSON.parse(raw) as Json;
  const last = JSON.stringify(((messages ?? contents ?? input) as unknown[]).at(-1));
  return raw.slice(0, raw.lastIndexOf(last) + last.length);
}

describe.each(agentApis.map((api) => [api.name, api] as const))("in %s", (_, api) => {
  test.each(thinkers.map((thinker) => [thinker.model, thinker] as const))(
    "a session with thoughts and calls of %s is sent byte for byte as before",
    async (model, { provider, answer, thought }) => {
      const { fleet, stub: stubOf } = await formatsStage();
      const stub = stubOf(provider);
      const key = (await fleet.operator().customer({ credit: "10" })).keys[0]?.key ?? "";
      const sent: string[] = [];
      let body = api.first(model);
      for (const id of ["call_1", "call_2", "call_3", "call_4"]) {
        stub.answerOnce(answer(id));
        body = api.next(body, await api.ask(fleet, key, body));
        sent.push(stub.calls.at(-1)?.rawBody ?? "");
      }
      for (const [index, raw] of sent.slice(1).entries()) expect(raw).toStartWith(upToTheEnd(sent[index] ?? ""));
      expect(sent.at(-1)?.split(thought)).toHaveLength(4);
      expect(sent.at(-1)?.includes(".sig.")).toBe(false);
    },
  );
});
