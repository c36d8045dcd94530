/** Check 2 for the further models of a routed request: each must support the whole request, and gets a body of its own. */
import { GatewayError } from "../../../kernel/errors.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { parseJsonObject } from "../../../http/json-body.ts";
import { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import { takesReasoning } from "../../models/dialect.ts";
import { inputTokensBound, inputTokensEstimate } from "../../models/tokens/input-tokens.ts";
import type { Model } from "../../models/model.ts";
import { needsEstimate } from "../../models/price.ts";
import type { ChatBody } from "../../providers/provider.ts";
import { checkParsed, readPromptBody, type CheckChatOptions, type CheckedChat, type RequestFormat } from "./chat.ts";
import { outputMinimum, samplesWithoutReasoning } from "./chat-options.ts";
import { permittedModel } from "./routing-fields.ts";
import { addedBytes, rejectUnsupportedFields } from "./unsupported-fields.ts";

export interface FurtherModels {
  find(id: string): Model | null;
  clock: Clock;
  /** Reads the request's fields for a model. */
  readBody(id: string, model: Model | null): ChatBody;
}

/** As `checkRequest`, where the workspace has routing on. */
export async function checkRouted(
  bytes: Uint8Array,
  format: RequestFormat,
  options: CheckChatOptions & { clock: Clock },
): Promise<CheckedChat> {
  const request = parseJsonObject(bytes);
  const chat = checkParsed(request, format, options);
  const readBody = (id: string, model: Model | null): ChatBody => readPromptBody(id, format, { request, model });
  return withFurtherModels(chat, { ...options, readBody });
}

/**
 * Adds the bodies of the further models. Models with equal rules share the work, and other work runs between two bodies, since a request
 * may be large and name eight models.
 * @throws GatewayError whose message names the model that does not support a field
 */
export async function withFurtherModels(chat: CheckedChat, { find, clock, readBody }: FurtherModels): Promise<CheckedChat> {
  const { routing, maxTokens, tools } = chat;
  if (routing === undefined || routing.models.length === 1) return chat;
  const yielder = new EventLoopYielder(clock);
  const byRules = new Map([[rulesOf(find(chat.model), maxTokens), chat.body]]);
  const bodies = new Map(routing.bodies);
  let { inputTokens } = chat;
  for (const { id } of routing.models.slice(1)) {
    const model = find(id);
    const permitted = permittedModel(model, routing);
    if (permitted?.routes.length === 0) continue;
    await yielder.yieldIfDue();
    const rules = rulesOf(model, maxTokens);
    const shared = byRules.get(rules);
    const body = namingModel(id, () => {
      const own = shared ? { ...shared, model: id } : readBody(id, model);
      rejectUnsupportedFields(own, permitted);
      return own;
    });
    bodies.set(id, body);
    byRules.set(rules, shared ?? body);
    const added = addedBytes(body, permitted);
    if (shared && added === 0) continue;
    inputTokens = Math.max(inputTokens, inputTokensBound(body) + added);
  }
  const isTight = ({ id }: { id: string }): boolean => {
    const model = find(id);
    return model !== null && needsEstimate(model, { inputTokens, tools });
  };
  let promptTokens = 0;
  if (maxTokens === null && routing.models.some(isTight)) {
    for (const body of byRules.values()) {
      await yielder.yieldIfDue();
      promptTokens = Math.max(promptTokens, body === chat.body ? chat.promptEstimate() : inputTokensEstimate(body));
    }
  }
  return { ...chat, inputTokens, ...(promptTokens > 0 && { promptTokens }), routing: { ...routing, bodies } };
}

/** What decides how a model's body is read. */
function rulesOf(model: Model | null, maxTokens: number | null): string {
  if (model === null) return "";
  const { supports, defaultOnly, maxOutputTokens, refusesForcedTools } = model;
  const isWithin = maxTokens === null || (maxTokens >= outputMinimum(model) && maxTokens <= maxOutputTokens);
  const facts = [
    [...supports].toSorted(),
    [...defaultOnly].toSorted(),
    samplesWithoutReasoning(model),
    takesReasoning(model),
    refusesForcedTools,
  ];
  return JSON.stringify([...facts, isWithin || maxOutputTokens]);
}

function namingModel<Result>(id: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new GatewayError(error.code, {
      param: error.param ?? undefined,
      message: error.message.startsWith(`${id} `) ? error.message : `${error.message} (model ${id})`,
    });
  }
}
