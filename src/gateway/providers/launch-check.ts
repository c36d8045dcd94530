/** The end-to-end test call of the launch checks: one short question that needs a usable answer with a token count. */
import type { Reservation } from "../credit/reservation.ts";
import { launchCheckMsMax, probeOutputTokensMax } from "../limits.ts";
import type { Route } from "../models/model.ts";
import type { ProviderClocks } from "./transport/upstream-call.ts";
import type { CallProvider } from "./http.ts";
import { UpstreamFailure } from "./provider.ts";

/** @returns null when it passed, else our error code */
export async function launchCheck(
  { ticket, model, route }: { ticket: Reservation; model: string; route: Route },
  call: CallProvider,
): Promise<string | null> {
  const chat = { model, messages: [{ role: "user", content: "Answer with one word." }] };
  try {
    const answer = await call(ticket, {
      generation: ticket.generation,
      route,
      chat,
      maxOutputTokens: probeOutputTokensMax,
      streamed: false,
    });
    return answer.kind === "whole" && answer.answer.usage !== null ? null : "upstream_error";
  } catch (error) {
    if (error instanceof UpstreamFailure) return error.code;
    throw error;
  }
}

/** The timeouts of a test call: shorter, since the answer has one word. */
export function launchCheckClocks(clocks: ProviderClocks): ProviderClocks {
  return { ...clocks, streamMs: Math.min(clocks.streamMs, launchCheckMsMax) };
}
