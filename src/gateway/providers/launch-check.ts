/**
 * The test call of the launch checks: one short question or text, sent by the same code as every call, which must get a usable answer with
 * a token count. A model is callable only after it. The call costs no credit of a workspace and has shorter timeouts, since the answer has
 * one word.
 */
import type { Reservation } from "../credit/reservation.ts";
import { launchCheckMsMax, probeOutputTokensMax } from "../limits.ts";
import type { EmbeddingFacts, Route } from "../models/model.ts";
import type { ProviderClocks } from "./transport/upstream-call.ts";
import type { CallEmbeddings } from "./embed.ts";
import { embeddingFormats } from "./embedding-formats.ts";
import type { CallProvider } from "./http.ts";
import { UpstreamFailure } from "./provider.ts";

interface Checked {
  ticket: Reservation;
  model: string;
  route: Route;
}

/** @returns null when it passed, else our error code */
export async function launchCheck(checked: Checked, call: CallProvider): Promise<string | null> {
  return (await launchCheckFailure(checked, call))?.code ?? null;
}

/** @returns null when it passed */
export async function launchCheckFailure({ ticket, model, route }: Checked, call: CallProvider): Promise<UpstreamFailure | null> {
  const chat = { model, messages: [{ role: "user", content: "Answer with one word." }] };
  try {
    const answer = await call(ticket, {
      generation: ticket.generation,
      route,
      chat,
      maxOutputTokens: probeOutputTokensMax,
      streamed: false,
    });
    const isWhole = answer.kind === "whole" && answer.answer.usage !== null;
    return isWhole ? null : new UpstreamFailure("upstream_error", "the answer has no count of tokens");
  } catch (error) {
    if (error instanceof UpstreamFailure) return error;
    throw error;
  }
}

/**
 * One short text, whose vector must have the default length.
 * @returns null when it passed, else our error code
 */
export async function embeddingsLaunchCheck(
  { ticket, facts, route }: { ticket: Reservation; facts: EmbeddingFacts; route: Route },
  embed: CallEmbeddings,
): Promise<string | null> {
  const format = route.provider.embeddings && embeddingFormats[route.provider.embeddings.format];
  try {
    const { promptTokens } = await embed(ticket, {
      generation: ticket.generation,
      route,
      inputs: { kind: "texts", texts: ["One word"] },
      dimensions: null,
      inputType: null,
      dimensionsExpected: facts.dimensions,
      normalize: false,
    });
    return promptTokens === null && format?.countsAlways === true ? "upstream_error" : null;
  } catch (error) {
    if (error instanceof UpstreamFailure) return error.code;
    throw error;
  }
}

/** The timeouts of a test call: shorter, since the answer has one word. */
export function launchCheckClocks(clocks: ProviderClocks): ProviderClocks {
  return { ...clocks, streamMs: Math.min(clocks.streamMs, launchCheckMsMax) };
}
