/**
 * Models of the catalog's providers as mocks that answer 400 to what the real ones refuse. No vendor was called: the rules come from public
 * reports, and the efforts of each model from the page that is named with them, whatever the catalog says.
 */
import { claude, google, hex, openai, responses, unique, type IdOf, type StrictProvider } from "./strict-mocks.ts";
import {
  assistantSpeaks,
  contentAlways,
  namesOfUsers,
  neverAfter,
  noEmptyParts,
  oneInstruction,
  onlyFields,
  reasoningWithCalls,
  roles,
  textsAlone,
  toolCallIds,
  userLast,
  type Rule,
} from "./strict-messages.ts";

const others = ["system", "user", "assistant", "tool"];
const upToHigh = ["low", "medium", "high"];
const tools = { tool: ["tool_call_id"] };

const kimiId: IdOf = (n) => `functions.weather:${n + unique()}`;
const glmId: IdOf = () => `call_${String(8_469_015_594_668_440_000n + BigInt(unique()))}`;
const kimiRules: readonly Rule[] = [roles(...others), reasoningWithCalls, assistantSpeaks, noEmptyParts];

const withReasoning = { ...tools, system: ["name"], user: ["name"], assistant: ["name", "tool_calls", "reasoning"] };

export const strictProviders: readonly StrictProvider[] = [
  openai(
    "openai",
    "openai/gpt-5.1",
    {
      idOf: () => `call_${hex(24)}`,
      reasoning: null,
      // https://github.com/anomalyco/opencode/issues/4451, https://github.com/BerriAI/litellm-docs/pull/1064
      efforts: ["none", "low", "medium", "high"],
      sampling: "unless reasoning",
    },
    roles("developer", ...others),
    onlyFields({ ...tools, developer: ["name"], system: ["name"], user: ["name"], assistant: ["name", "refusal", "tool_calls"] }),
    toolCallIds((id) => id.length <= 40, "the maximum length is 40"),
  ),
  responses("gpt-5.4"),
  responses("gpt-6-astra"),
  openai(
    "mistral",
    "mistral/mistral-medium-3.5",
    // https://docs.sglang.io/cookbook/autoregressive/Mistral/Mistral-Medium-3.5
    { idOf: () => hex(9), reasoning: "parts", efforts: ["none", "high"] },
    roles(...others),
    onlyFields({ ...tools, assistant: ["tool_calls", "prefix"] }),
    toolCallIds((id) => /^[a-zA-Z0-9]{9}$/.test(id), "must be a-z, A-Z, 0-9, with a length of 9."),
    assistantSpeaks,
    neverAfter({ tool: ["user", "system"], assistant: ["system"] }),
    userLast,
  ),
  claude("claude-opus-4-6"),
  // https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/guides/gemini-3-5-flash
  google("google/gemini-3.5-flash", ["minimal", "low", "medium", "high"]),
  // https://ai.google.dev/gemini-api/docs/generate-content/latest-model
  google("google/gemini-4-argon", ["low", "medium", "high"]),
  openai(
    "moonshot",
    "moonshotai/kimi-k2.6",
    // https://platform.kimi.ai/docs/api/models-overview
    { idOf: kimiId, reasoning: "reasoning_content", sampling: "fixed" },
    ...kimiRules,
  ),
  openai(
    "moonshot",
    "moonshotai/kimi-k3",
    // https://platform.kimi.ai/docs/guide/use-reasoning-effort; another is 400: https://github.com/CherryHQ/cherry-studio/pull/20036
    { idOf: kimiId, reasoning: "reasoning_content", sampling: "fixed", efforts: ["low", "high", "max"] },
    ...kimiRules,
  ),
  openai("zai", "z-ai/glm-5.1", { idOf: glmId, reasoning: "reasoning_content" }, roles(...others)),
  openai(
    "zai",
    "z-ai/glm-5.3",
    // https://docs.z.ai/guides/capabilities/thinking, https://github.com/charmbracelet/catwalk/pull/603
    { idOf: glmId, reasoning: "reasoning_content", efforts: ["low", "high", "max"] },
    roles(...others),
  ),
  openai(
    "groq",
    "qwen/qwen3.8-27b",
    { idOf: () => `chatcmpl-tool-${hex(32)}`, reasoning: "reasoning" },
    roles(...others),
    onlyFields(withReasoning),
    oneInstruction,
  ),
  openai(
    "groq",
    "openai/gpt-oss-20b",
    // https://console.groq.com/docs/reasoning
    { idOf: () => `fc_${hex(36)}`, reasoning: "reasoning", efforts: upToHigh },
    roles(...others),
    onlyFields(withReasoning),
  ),
  openai(
    "xai",
    "x-ai/grok-4.3",
    // https://github.com/enricoros/big-AGI/issues/1104
    { idOf: () => `call_${hex(8)}`, reasoning: "reasoning_content", efforts: ["none", ...upToHigh] },
    roles(...others),
    namesOfUsers,
    contentAlways,
  ),
  openai(
    "cerebras",
    "openai/gpt-oss-120b",
    // https://inference-docs.cerebras.ai/capabilities/reasoning
    { idOf: () => hex(9), reasoning: "reasoning", efforts: upToHigh },
    roles(...others),
    onlyFields(withReasoning),
    textsAlone,
  ),
  openai(
    "xiaomi",
    "xiaomi/mimo-v2.6-pro",
    { idOf: () => `call_${hex(24)}`, reasoning: "reasoning_content" },
    roles(...others),
    reasoningWithCalls,
    contentAlways,
  ),
  openai(
    "minimax",
    "minimax/minimax-m2.7-highspeed",
    { idOf: () => `call_function_${hex(12)}_1`, reasoning: "reasoning_content" },
    roles(...others),
    oneInstruction,
  ),
  openai(
    "alibaba",
    "qwen/qwen-plus",
    { idOf: () => `call_${hex(22)}`, reasoning: "reasoning_content" },
    roles(...others),
    oneInstruction,
  ),
  openai(
    "meta",
    "meta/muse-spark-1.1",
    // https://dev.meta.ai/docs/features/reasoning, as told by https://github.com/theopenco/llmgateway/pull/3079
    { idOf: () => `call_${hex(24)}`, reasoning: null, efforts: ["minimal", ...upToHigh, "xhigh"] },
    roles(...others),
  ),
  openai(
    "stepfun",
    "stepfun/step-3.5-flash-2603",
    // https://platform.stepfun.com/docs/zh/api-reference/chat/chat-completion-create, as told by https://github.com/anomalyco/models.dev/pull/1988
    { idOf: () => `call_${hex(24)}`, reasoning: "reasoning", efforts: ["low", "high"] },
    roles(...others),
  ),
  openai(
    "fireworks",
    "deepseek/deepseek-v4.1-flash",
    // https://github.com/theopenco/llmgateway/pull/3350, https://github.com/anomalyco/models.dev/pull/6741
    { idOf: () => `call_${hex(24)}`, reasoning: "reasoning_content", efforts: ["none", ...upToHigh, "xhigh", "max"] },
    roles(...others),
  ),
  openai(
    "baseten",
    "z-ai/glm-5.2",
    // https://docs.baseten.co/inference/model-apis/reasoning, as told by https://github.com/anomalyco/models.dev/pull/4106
    { idOf: glmId, reasoning: "reasoning_content", efforts: ["none", "high", "max"] },
    roles(...others),
  ),
];
