/** A model's thoughts through the fields that an agent's API has for them: back to the model that thought them, and to no other. */
import { beforeAll, describe, expect, test } from "bun:test";
import { expectExactLedger } from "../../support/gateway/exact-ledger.ts";
import type { Customer } from "../../support/operator.ts";
import { refusal } from "../../support/providers/anthropic-answers.ts";
import type { ProviderStub } from "../../support/providers/provider-stub.ts";
import type { Fleet } from "../../support/servers/fleet.ts";
import { formatsStage, type FormatsStage } from "../formats-stage.ts";
import { agentApis, thinkers, type AgentApi, type Json, type Thinker } from "./thinkers.ts";

let stage: FormatsStage;
let fleet: Fleet;
let customer: Customer;

beforeAll(async () => {
  stage = await formatsStage();
  ({ fleet } = stage);
}, 60_000);

/** A key may make only so many requests a minute. */
async function newCustomer(): Promise<void> {
  customer = await fleet.operator().customer({ credit: "10" });
}

const keyOf = ({ keys }: Customer): string => keys[0]?.key ?? "";

async function asked(api: AgentApi, { provider, answer }: Thinker, body: Json): Promise<Json[]> {
  stage.stub(provider).answerOnce(answer("call_1"));
  return api.ask(fleet, keyOf(customer), body);
}

const last = (stub: ProviderStub): string => stub.calls.at(-1)?.rawBody ?? "";

describe.each(agentApis.map((api) => [api.name, api] as const))("in %s", (_, api) => {
  describe.each(thinkers.map((thinker) => [thinker.model, thinker] as const))("thoughts of %s", (_, thinker) => {
    beforeAll(newCustomer);

    test.each([false, true])("come back to it unchanged, and its calls have plain ids (streamed: %p)", async (streamed) => {
      const first = { ...api.first(thinker.model), stream: streamed };
      const answer = await asked(api, thinker, first);
      const ids = answer.flatMap((part) => part["call_id"] ?? (part["type"] === "tool_use" ? part["id"] : [])).map(String);
      expect(ids).toHaveLength(1);
      // Gemini's signature is the call's own, and no part of the conversation.
      if (thinker.provider === "google") expect(ids[0]).toContain(".sig.");
      else expect(ids).toEqual(["call_1"]);
      await asked(api, thinker, api.next(first, answer));
      expect(last(stage.stub(thinker.provider))).toContain(thinker.thought);
    });

    test("stay away from every other model, whose answer comes all the same", async () => {
      const first = api.first(thinker.model);
      const body = api.next(first, await asked(api, thinker, first));
      for (const other of thinkers.filter(({ provider }) => provider !== thinker.provider)) {
        await asked(api, other, { ...body, model: other.model });
        expect(last(stage.stub(other.provider))).not.toMatch(/c2lnbmVk|ZW5jcnlwdGVk|I need the weather|encrypted_content":"/);
      }
    });
  });
});

describe("in messages", () => {
  beforeAll(newCustomer);
  const [api] = agentApis as [AgentApi];
  const claude = thinkers[0] as Thinker;

  test("a thought without a signature, or with one of somebody else's, is left out and no failure", async () => {
    const first = api.first(claude.model);
    const foreign = [
      { type: "thinking", thinking: "Hm, secretly.", signature: "" },
      { type: "thinking", thinking: "Hm, secretly.", signature: "c29tZW9uZQ==" },
      { type: "redacted_thinking", data: "c29tZW9uZQ==" },
    ];
    await asked(
      api,
      claude,
      api.next(first, [
        ...foreign,
        { type: "text", text: "Hm." },
        { type: "tool_use", id: "call_1", name: "weather", input: {} },
      ]),
    );
    expect(last(stage.stub("claude"))).not.toMatch(/secretly|c29tZW9uZQ/);
  });

  test("a model that gets its reasoning back as text keeps it, though the client wants no texts of signed thoughts", async () => {
    const other = thinkers.find(({ provider }) => provider === "other") as Thinker;
    const first = { ...api.first(other.model), thinking: { type: "adaptive", display: "omitted" } };
    await asked(api, other, api.next(first, await asked(api, other, first)));
    expect(last(stage.stub("other"))).toContain(other.thought);
  });

  test("a request whose thoughts the provider refuses goes once more without them, for one charge", async () => {
    const own = await fleet.operator().customer({ credit: "10" });
    const stub = stage.stub("claude");
    const first = api.first(claude.model);
    stub.answerOnce(claude.answer("call_1"));
    const body = api.next(first, await api.ask(fleet, keyOf(own), first));
    const before = stub.calls.length;
    stub.answerOnce(
      refusal(400, "invalid_request_error", "messages.1.content.0: Invalid `signature` in `thinking` block"),
      claude.answer("call_2"),
    );
    await api.ask(fleet, keyOf(own), body);
    expect(stub.calls.slice(before).map(({ rawBody }) => rawBody.includes(claude.thought))).toEqual([true, false]);
    await expectExactLedger(fleet.operator(), own, { credit: "10", generations: 2 });
  });
});
