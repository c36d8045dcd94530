/**
 * Sends a kept answer again, to a request whose idempotency key is spent. Nothing is reserved or charged, and no provider is called. The log
 * has a row for it that names the first generation. The client gets the first answer's id and text. Its body is the same, so the answer is
 * whole or streamed like the first.
 */
import { holdMs } from "../../backing/limits.ts";
import { monthOf, sleep } from "../../kernel/clock.ts";
import { newGenerationId, newRequestId, timeOfId, type GenerationId, type WorkspaceId } from "../../kernel/ids.ts";
import { jsonTextResponse } from "../../kernel/json.ts";
import { RefusedError } from "../admission/client.ts";
import type { Caller } from "../admission/message.ts";
import type { Settlement } from "../journal/settlement.ts";
import { mayReplay, type KeptAnswer } from "../prompts/kept-answers.ts";
import { keptAnswerPauseMs } from "../prompts/limits.ts";
import { answerEvents } from "../providers/transport/other-forms.ts";
import type { AnswerFormat } from "./answer/answer-format.ts";
import { streamText } from "./answer/relay.ts";
import { generationHeaders, streamHeaders } from "./answer/response.ts";
import { noUsage } from "./call/charged-usage.ts";
import type { Gateway } from "./gateway.ts";
import { showsCost } from "./generate.ts";
import type { CheckedChat } from "./request/chat-request.ts";

interface RepeatedRequest {
  caller: Caller;
  chat: CheckedChat;
  format: AnswerFormat;
}

/**
 * @param error of admission
 * @throws it where the key is not spent, or its answer was not kept
 */
export async function replayed(error: unknown, repeated: RepeatedRequest, gateway: Gateway): Promise<Response> {
  const first = error instanceof RefusedError ? error.spentOn : null;
  const at = gateway.admission.countersTime();
  if (first === null || at === null || !mayReplay(repeated.caller)) throw error;
  const startedAt = gateway.clock.monotonic();
  const kept = await keptAnswer({ workspace: repeated.caller.record.workspace, generation: first }, gateway);
  if (kept === null) throw error;
  const now = gateway.clock.now();
  const ids = { generation: newGenerationId(now), request: newRequestId(now) };
  const durationMs = Math.max(0, Math.round(gateway.clock.monotonic() - startedAt));
  await gateway.journal.end({
    ...replayRow(repeated, kept),
    ...ids,
    month: monthOf(at),
    admittedAt: at,
    durationMs,
    replayedFrom: first,
  });
  const shown = { ...ids, generation: first };
  const headers = { ...generationHeaders(shown), ...repeated.format.headers?.(shown), ...kept.headers };
  return answerAgain({ ...repeated, kept, first }, { ...headers, "idempotent-replayed": "true" });
}

/** Looks twice, since an answer of a moment ago may not be written yet. */
async function keptAnswer(
  of: { workspace: WorkspaceId; generation: GenerationId },
  { keptAnswers, clock }: Gateway,
): Promise<KeptAnswer | null> {
  const kept = await keptAnswers.find(of);
  if (kept !== null || clock.now() - timeOfId(of.generation) > holdMs) return kept;
  await sleep(clock, keptAnswerPauseMs);
  return await keptAnswers.find(of);
}

const free = { input: "0", output: "0", cacheRead: "0", cacheWrite: "0" };

function replayRow(
  { caller: { record }, chat, format: { endpoint } }: RepeatedRequest,
  { model, provider }: KeptAnswer,
): Omit<Settlement, "generation" | "request" | "month" | "admittedAt" | "durationMs"> {
  const asked = { workspace: record.workspace, key: record.id, streamed: chat.streamed, ...(endpoint && { endpoint }) };
  const nothing = { reserved: "0", prices: free, usage: noUsage, usageEstimated: false };
  return { ...asked, ...nothing, outcome: "settled", model, provider, status: 200, code: null, firstTokenMs: null };
}

function answerAgain(
  { caller, chat, format, kept, first }: RepeatedRequest & { kept: KeptAnswer; first: GenerationId },
  headers: Record<string, string>,
): Response {
  const { answer, created, completed, model, signer } = kept;
  const usage = showsCost({ chat, caller }) ? { ...kept.usage, cost: BigInt(kept.cost) } : kept.usage;
  const facts = { id: first, created, completed, model, signer };
  if (!chat.streamed) return jsonTextResponse(format.wholeText(answer, { ...facts, usage }), headers);
  const { promptTokens } = kept.usage;
  const writer = format.streamWriter({ ...facts, includeUsage: chat.includeUsage, promptTokens });
  return new Response(streamText(answerEvents(answer), writer, usage), { headers: { ...streamHeaders, ...headers } });
}
