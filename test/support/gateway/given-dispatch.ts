/** A dispatch whose providers reply as a test says. */
import {
  UpstreamFailure,
  type ProviderAnswer,
  type UpstreamCode,
  type WholeAnswer,
} from "../../../src/gateway/providers/provider.ts";
import { type CallRoute, dispatch, type DispatchOptions } from "../../../src/gateway/api/call/dispatch.ts";
import { DrainLimit } from "../../../src/gateway/api/answer/drains.ts";
import { StopSignal } from "../../../src/kernel/clock.ts";
import { ManualClock } from "../clock.ts";
import { candidate } from "../providers/candidates.ts";
import { drainSlotIn } from "../providers/open-relay.ts";

export const answer: WholeAnswer = {
  message: { role: "assistant", content: "Hi", refusal: null },
  finishReason: "stop",
  logprobs: null,
  usage: null,
};
export const whole: ProviderAnswer = { kind: "whole", answer };
export const failure = (code: UpstreamCode) => new UpstreamFailure(code, "by the test");
export const first = candidate("first");
export const second = candidate("second");

type Reply = ProviderAnswer | UpstreamFailure | Promise<ProviderAnswer>;

/**
 * Dispatches a request to the candidates of a test, which reply one for each call in order. `called` names the providers, and the
 * model where it is not the default one.
 */
export function given(replies: Reply[], options: Partial<DispatchOptions> = {}) {
  const clock = new ManualClock();
  const drainLimit = new DrainLimit();
  const called: string[] = [];
  const giveUps: StopSignal[] = [];
  const callRoute: CallRoute = (call, { model }, { givenUp }) => {
    called.push(model.id === "acme/one" ? call.route.provider.id : `${call.route.provider.id} ${call.chat.model}`);
    giveUps.push(givenUp);
    const reply = replies[called.length - 1];
    if (reply === undefined) throw new Error("One call too many");
    if (reply instanceof UpstreamFailure) return Promise.reject(reply);
    const aborted = new Promise<never>((_, reject) => givenUp.listen(() => reject(failure("upstream_error"))));
    return Promise.race([Promise.resolve(reply), aborted]);
  };
  const outcome = dispatch({
    reservation: { generation: "gen-a" },
    requestFor: ({ model }) => ({ chat: { model: model.id, messages: [] }, maxOutputTokens: 100 }),
    streamed: false,
    candidates: [first, second],
    fallbacks: true,
    callRoute,
    onUsage() {},
    onResent() {},
    clientSignal: new AbortController().signal,
    stop: new StopSignal(),
    acquireDrainSlot: ({ route }) => (route.provider.cancelStopsBilling ? null : drainSlotIn(drainLimit, clock.monotonic())),
    clock,
    ...options,
  });
  return { outcome, called, giveUps, clock, drainLimit };
}
