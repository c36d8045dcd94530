/**
 * For a recorded answer of each kind from every format: a response and the events of its stream are valid by the official schema, say what
 * the provider said, end as it ended, and are settled.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import type { JsonObject as Json } from "../../../src/http/json.ts";
import { errorTable } from "../../../src/kernel/errors.ts";
import { expectExactLedger } from "../../support/gateway/exact-ledger.ts";
import type { Customer } from "../../support/operator.ts";
import { conforming, ErrorBody } from "../schemas.ts";
import { modelOf, stage, type Stage } from "../stage.ts";
import { kindOfAnswer, kindOfStream, oneOfEachKind, upstreams, type StreamCase, type WholeCase } from "../upstreams.ts";
import { conformingEvent, officialWholeResponse, WholeResponse, type StreamedEvent } from "./response-schemas.ts";

const credit = "10";
type Item = Extract<StreamedEvent, { type: "response.completed" }>["response"]["output"][number];

describe.each(upstreams)("a provider that speaks $name", ({ name: format, whole, streams }) => {
  let on: Stage;
  let customer: Customer;
  let sent = 0;

  beforeAll(async () => {
    on = await stage("embedded");
    customer = await on.fleet.operator().customer({ credit });
    // One call for each request, so that the client sees the recorded failure.
    await on.fleet.operator().call("PATCH", `/workspaces/${customer.workspace}`, { fallbacks: false });
  }, 90_000);

  async function ask({ answer }: WholeCase | StreamCase, fields: Json = {}): Promise<Response> {
    on.stub(format).answerOnce(answer);
    sent++;
    return fetch(`${on.fleet.url()}/gpt/v1/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${customer.keys[0]?.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: modelOf(format), input: "Hello", ...fields }),
    });
  }

  test.each(oneOfEachKind(whole, kindOfAnswer).map((one) => [one.name, one] as const))("a response: %s", async (_, one) => {
    const response = await ask(one);
    const { expected, failure } = one;
    if (expected === null) {
      expect(response.status).toBe(errorTable[failure ?? "upstream_error"].status);
      return expectError(await response.json());
    }
    const body = officialWholeResponse(conforming(WholeResponse, await response.json()));
    const { text, refusal, calls } = saidIn(body.output as Item[]);
    expect([text, refusal]).toEqual([expected.content ?? "", expected.refusal ?? ""]);
    if (expected.toolCalls)
      expect(calls).toEqual(expected.toolCalls.map((call) => [call.function.name, call.function.arguments]));
    expect(body.status as string).toBe(statusOf(expected.finishReason, expected.refusal ?? ""));
  });

  test.each(oneOfEachKind(streams, kindOfStream).map((one) => [one.name, one] as const))("a stream: %s", async (_, one) => {
    const response = await ask(one, { stream: true });
    if (response.status !== 200) {
      expect(response.status).toBe(errorTable[one.failure ?? "upstream_error"].status);
      return expectError(await response.json());
    }
    const events = eventsIn(await response.text());
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_event, index) => index));
    expect(events.slice(0, 2).map(({ type }) => type)).toEqual(["response.created", "response.in_progress"]);
    const ends = events.filter(({ type }) => /^response\.(completed|incomplete|failed)$/.test(type));
    const [last = events[0]] = ends;
    expect([ends.length, events.at(-1) === last]).toEqual([1, true]);
    const text = (kind: string): string =>
      events.map((event) => (event.type === kind && "delta" in event ? event.delta : "")).join("");
    expect([text("response.output_text.delta"), text("response.refusal.delta")]).toEqual([one.text, one.refusal]);
    expect(last?.type.slice("response.".length)).toBe(
      one.finishReason === null ? "failed" : statusOf(one.finishReason, one.refusal),
    );
    if (one.finishReason === null || last === undefined || !("response" in last)) return;
    const { calls } = saidIn(last.response.output);
    expect(calls).toEqual(one.toolCalls.map((call) => [call.name, call.arguments]));
  });

  test("all of them are settled", async () => {
    await expectExactLedger(on.fleet.operator(), customer, { credit, generations: sent });
  }, 30_000);
});

/** A prompt that is too long has a code that only this API has. */
function expectError(body: unknown): void {
  const { error } = body as { error: Json };
  const code = error["code"] === "context_length_exceeded" ? "upstream_rejected" : error["code"];
  conforming(ErrorBody, { error: { ...error, code } });
}

/** Words of refusal are an answer. */
function statusOf(finishReason: string, refusal: string): string {
  return finishReason === "length" || (finishReason === "content_filter" && refusal === "") ? "incomplete" : "completed";
}

function saidIn(items: readonly Item[]) {
  const said = { text: "", refusal: "", calls: [] as [name: string, text: string][] };
  for (const item of items) {
    if (item.type === "function_call") said.calls.push([item.name, item.arguments]);
    if (item.type === "custom_tool_call") said.calls.push([item.name, item.input]);
    if (item.type !== "message") continue;
    for (const part of item.content) {
      if (part.type === "output_text") said.text += part.text;
      else said.refusal += part.refusal;
    }
  }
  return said;
}

function eventsIn(text: string): StreamedEvent[] {
  const blocks = text.split("\n\n").filter((block) => block !== "" && !block.startsWith(":"));
  return blocks.map((block) => {
    const [, type, data = ""] = /^event: (\S+)\ndata: (.+)$/.exec(block) ?? [];
    const event = conformingEvent(JSON.parse(data) as Json);
    expect(event.type).toBe(type as never);
    return event;
  });
}
