/** Whether and how much a model may think in a call. What each model takes is in the catalog. */
import type { ReasoningEffort, Route } from "../../models/model.ts";
import type { ChatBody, ProviderCall } from "../provider.ts";
import { fittedEffort } from "../wire/effort.ts";
import type { JsonObject } from "../wire/json.ts";
import { samplingFields } from "./sampling.ts";

export interface Thinking {
  /** The field `thinking`; null: left out, so that the model's default applies. */
  field: JsonObject | null;
  /** The field `output_config.effort`. */
  effort: string | null;
  /** Whether to send the thoughts of earlier calls: without thinking the API refuses or removes them. */
  takesThoughts: boolean;
}

/** The API has no `minimal`; `none` is a kind of thinking, not an effort. */
const adaptiveEfforts: readonly ReasoningEffort[] = ["low", "medium", "high", "xhigh", "max"];

/** Tokens. The vendor's bounds are 1,024 and `max_tokens`, of which the answer needs a part. */
const budgets = new Map([
  ["low", 2_048],
  ["medium", 8_192],
  ["high", 16_384],
]);
const budgetMax = 32_768;
const budgetMin = 1_024;
const budgetShareMax = 0.8;

/** Lower values of `top_p` are refused together with thinking. */
const thinkingTopPMin = 0.95;

const noThinking: Thinking = { field: null, effort: null, takesThoughts: false };

/** A client that sets an effort also receives the reasoning: newer models leave it out unless they are asked for its summary. */
export function thinkingOf({ route, chat, maxOutputTokens }: Pick<ProviderCall, "route" | "chat" | "maxOutputTokens">): Thinking {
  if (chat["reasoning_effort"] === "none") return switchedOff(route, mayThink(chat));
  const effort = fittedEffort(chat["reasoning_effort"], route.efforts ?? adaptiveEfforts) ?? null;
  const takesBudget = route.thinking?.form === "budget";
  if (!mayThink(chat)) return { ...noThinking, effort: takesBudget ? null : effort };
  if (takesBudget) return withBudget(effort, maxOutputTokens);
  if (effort === null) return { field: null, effort, takesThoughts: true };
  return { field: { type: "adaptive", display: "summarized" }, effort, takesThoughts: true };
}

/** A model that cannot stop thinking thinks as little as it can, and goes on from its thoughts where it may think. */
function switchedOff({ thinking }: Route, takesThoughts: boolean): Thinking {
  switch (thinking?.off) {
    case "never":
      return { field: null, effort: "low", takesThoughts };
    case "between_tools":
      return { field: { type: "between_tools" }, effort: null, takesThoughts };
    default:
      return { ...noThinking, field: { type: "disabled" } };
  }
}

/** The API refuses thinking together with a forced call or sampling fields; the client asked for those explicitly, so they win. */
function mayThink(chat: ChatBody): boolean {
  const { tool_choice: choice } = chat;
  const isFree = choice === undefined || choice === "auto" || choice === "none";
  const { temperature, top_p } = samplingFields(chat);
  return isFree && temperature === undefined && !(typeof top_p === "number" && top_p < thinkingTopPMin);
}

/** Without room for the smallest budget the model does not think. */
function withBudget(effort: string | null, maxOutputTokens: number): Thinking {
  if (effort === null || maxOutputTokens <= budgetMin) return noThinking;
  const wanted = Math.min(budgets.get(effort) ?? budgetMax, Math.floor(maxOutputTokens * budgetShareMax));
  return { field: { type: "enabled", budget_tokens: Math.max(wanted, budgetMin) }, effort: null, takesThoughts: true };
}
