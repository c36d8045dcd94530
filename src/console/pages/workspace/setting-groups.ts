/**
 * The settings of a workspace in groups, each with a description of what it does on and off. A group is one form and one audit row. A
 * setting that the endpoint lacks does not compile.
 */
import type { WorkspaceSettings, WorkspaceView } from "../../../accounts/workspaces/schema.ts";
import { earlyAccessFeatures } from "../../../accounts/workspaces/workspaces.ts";
import { typedUsd } from "../../look/parts.ts";

export interface Setting {
  /** The field of the form; `early_access.<feature>` is a part of `early_access`. */
  name: keyof WorkspaceSettings | `early_access.${EarlyAccess}`;
  label: string;
  /** What it does, on and off. */
  hint: string;
  kind: "check" | "money" | "whole";
}

export interface SettingGroup {
  /** The form's action. */
  action: string;
  title: string;
  /** Only the operator changes it. */
  ofTheOperator: boolean;
  /** The message once it is saved; absent: that it applies within 30 seconds. */
  said?: string;
  settings: readonly Setting[];
}

type EarlyAccess = (typeof earlyAccessFeatures)[number];

const features: Record<EarlyAccess, Pick<Setting, "label" | "hint">> = {
  embeddings: { label: "Embeddings", hint: "POST /gpt/v1/embeddings turns texts into vectors." },
  completions: { label: "Completions", hint: "POST /gpt/v1/completions takes the older format of one prompt." },
  routing: { label: "Routing", hint: "Requests may choose among models and providers. Off: these fields are refused with 400." },
  own_keys: {
    label: "Own provider keys",
    hint: "The workspace can add its own keys for providers, which then bill its calls. Off: stored keys stay, and are not used.",
  },
  models_page: { label: "Models page", hint: "The page Models lists the catalog's models with prices." },
  usage_statements: {
    label: "Usage statements",
    hint: "The page Statements has a statement of each month, which closes and never changes.",
  },
  people: {
    label: "People of connections",
    hint: "Connections to Okta, Google Workspace, Microsoft Entra ID and GitHub list who has an account there. Off: what was read stays, and nothing is read.",
  },
};

export const settingGroups: readonly SettingGroup[] = [
  {
    action: "spending",
    title: "Spending",
    ofTheOperator: false,
    settings: [
      {
        name: "spend_limit_usd",
        label: "Monthly spend limit in USD",
        hint: "For all keys and the Workbench together, for each calendar month in UTC. A request that could exceed it is refused with 402. If empty, only the credit limits spending.",
        kind: "money",
      },
      {
        name: "daily_spend_limit_usd",
        label: "Daily spend limit in USD",
        hint: "For all keys and the Workbench together, for each day in UTC. A request that could exceed it is refused with 402. If empty, no day is limited.",
        kind: "money",
      },
    ],
  },
  {
    action: "calls",
    title: "Provider calls",
    ofTheOperator: false,
    settings: [
      {
        name: "fallbacks",
        label: "Try a failed call once more",
        hint: "On: the caller gets an error only after a second try. Off: after the first.",
        kind: "check",
      },
      {
        name: "own_key_fallback",
        label: "Let other providers serve on credit",
        hint: "For models that one of your provider keys serves. On: when that provider fails, others may serve them, on the workspace’s credit. Off: only your key serves them.",
        kind: "check",
      },
    ],
  },
  {
    action: "data",
    title: "Data",
    ofTheOperator: false,
    settings: [
      {
        name: "zero_data_retention",
        label: "Require zero data retention",
        hint: "On: only providers that store nothing are called, and requests for the models listed above get 503. Off: every provider may be called.",
        kind: "check",
      },
      {
        name: "prompt_storage",
        label: "Store prompts and answers",
        hint: "On: those of new requests are stored encrypted. Admins can read them, and each view is in the audit log. Off: nothing new is stored, and nothing is deleted.",
        kind: "check",
      },
    ],
  },
  {
    action: "prompts",
    title: "Stored prompts",
    ofTheOperator: false,
    said: "The setting is saved. What is older is deleted from the next minute on.",
    settings: [
      {
        name: "prompt_retention_days",
        label: "Days to keep prompts",
        hint: "A stored prompt is deleted within an hour after so many days. If you lower the number, older ones are deleted from the next minute on. If empty, prompts stay until they are deleted.",
        kind: "whole",
      },
    ],
  },
  {
    action: "answers",
    title: "Answers",
    ofTheOperator: false,
    settings: [
      {
        name: "cost_in_answers",
        label: "Show the cost in answers",
        hint: "On: the usage in each answer has its cost. Off: only where a request asks for it.",
        kind: "check",
      },
      {
        name: "idempotent_replay",
        label: "Keep answers to requests with an Idempotency-Key",
        hint: "On: such an answer is kept for 24 hours, sealed, and a repeated request gets it again for nothing. Off, or with zero data retention: a repeated request is refused.",
        kind: "check",
      },
    ],
  },
  {
    action: "platform",
    title: "Platform",
    ofTheOperator: true,
    settings: [
      {
        name: "enabled",
        label: "The platform is on",
        hint: "Off: within 30 seconds all inference keys of the workspace get 403, and none can be created.",
        kind: "check",
      },
    ],
  },
  {
    action: "early",
    title: "Early access",
    ofTheOperator: true,
    settings: earlyAccessFeatures.map((feature) => ({ name: `early_access.${feature}`, kind: "check", ...features[feature] })),
  },
];

/** The values of all settings, as fields of a form. */
export function settingValues(workspace: WorkspaceView): Record<string, string> {
  const on = (is: boolean): string => (is ? "true" : "");
  return {
    spend_limit_usd: typedUsd(workspace.spend_limit_usd),
    daily_spend_limit_usd: typedUsd(workspace.daily_spend_limit_usd),
    fallbacks: on(workspace.fallbacks),
    own_key_fallback: on(workspace.own_key_fallback),
    zero_data_retention: on(workspace.zero_data_retention),
    prompt_storage: on(workspace.prompt_storage),
    prompt_retention_days: String(workspace.prompt_retention_days ?? ""),
    cost_in_answers: on(workspace.cost_in_answers),
    idempotent_replay: on(workspace.idempotent_replay),
    enabled: on(workspace.enabled),
    ...Object.fromEntries(
      earlyAccessFeatures.map((feature) => [`early_access.${feature}`, on(workspace.early_access.includes(feature))]),
    ),
  };
}
