import type { Model, Route } from "../../models/model.ts";
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
