import type { Model, ReportedUsage, Route } from "../../models/model.ts";
import { hiddenInputTokens } from "../../models/price.ts";
import type { UsageBounds } from "./charged-usage.ts";
import type { CheckedChat } from "../request/chat.ts";

interface RequestFacts {
  model: Pick<Model, "contextLength" | "reasons">;
  route: Pick<Route, "hiddenInputTokens">;
  chat: Pick<CheckedChat, "promptEstimate" | "tools">;
  /** The bound on output that the provider got. */
  maxOutputTokens: number;
}

/** The bounds that a provider's counts for such a request must keep. */
export function usageBounds({ model, route, chat, maxOutputTokens }: RequestFacts): UsageBounds {
  return {
    promptEstimate: chat.promptEstimate,
    tokensMax: model.contextLength + hiddenInputTokens(route, chat.tools),
    maxOutputTokens,
    reasons: model.reasons,
  };
}

/** The bounds for a stream whose provider has counted its prompt before the first event: then nobody needs to estimate it, which takes time. */
export function boundsOnceTold(bounds: UsageBounds, reported: ReportedUsage | null): UsageBounds {
  const told = reported?.promptTokens ?? 0;
  return told > 0 && told <= bounds.tokensMax ? { ...bounds, promptEstimate: () => told } : bounds;
}
