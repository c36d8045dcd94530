import type { Caller } from "../../accounts/keys/store.ts";
import { isoTime } from "../../kernel/clock.ts";
import { isMemberCaller } from "../../kernel/ids.ts";
import { formatUsd } from "../../kernel/money.ts";
import type { GenerationView } from "./schema.ts";
import type { GenerationRow } from "./store.ts";

/** @param caller undefined: it is unknown */
export function viewGeneration(row: GenerationRow, caller: Caller | undefined): GenerationView {
  return {
    generation_id: row.generation,
    request_id: row.request,
    workspace_id: row.workspace,
    key_id: isMemberCaller(row.key) ? null : row.key,
    key_name: caller?.keyName ?? null,
    member: caller?.email ?? null,
    endpoint: row.endpoint ?? "chat",
    model: row.model,
    provider: row.provider,
    status: row.status,
    code: row.code,
    streamed: row.streamed,
    prompt_tokens: row.promptTokens,
    cached_tokens: row.cachedTokens,
    cache_write_tokens: row.cacheWriteTokens ?? 0,
    completion_tokens: row.completionTokens,
    reasoning_tokens: row.reasoningTokens ?? 0,
    tier_above_tokens: row.tierAboveTokens,
    reserved_usd: formatUsd(row.reserved),
    cost_usd: formatUsd(row.cost),
    own_key: row.ownKey,
    list_cost_usd: row.listCost === null ? null : formatUsd(row.listCost),
    usage_estimated: row.usageEstimated,
    at: isoTime(row.at.getTime()),
    first_token_ms: row.firstTokenMs,
    duration_ms: row.durationMs,
    ...(row.routing && routingView(row.routing)),
  };
}

function routingView({ requested, attempts }: NonNullable<GenerationRow["routing"]>): Partial<GenerationView> {
  return { ...(requested !== null && { requested_model: requested }), attempts };
}
