/**
 * How a provider deviates from its wire format, as facts of its record in providers.json, each with its source. A fact that is absent has
 * the value that every provider is known to accept. Only the format `openai` reads them, except for a `reasoning_content` of `never`: the
 * other formats convert every message themselves. A new deviation is a fact here, with its effect in providers/openai/request.ts.
 */
import { Type, type TProperties, type Static, type TSchema } from "@sinclair/typebox";

/** Types that the entries of the catalog's files share. */
export const Day = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" });
export const Source = Type.String({ pattern: "^https://" });

/** An object of these fields and no others. */
export function strict<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false });
}

// Facts

const toolCallIdForms = ["any", "characters_40", "alphanumeric_9"] as const;
const reasoningForms = ["as_sent", "required", "as_reasoning", "as_thinking_parts", "never"] as const;
const namedRoles = ["any", "user", "none"] as const;
const instructionPlaces = ["anywhere", "one_first"] as const;

export const DialectEntry = strict({
  /** false: `developer` is sent as `system`. */
  developer_role: fact(Type.Boolean()),
  /** `one_first`: instructions become one message, the first. */
  instructions: fact(oneOf(instructionPlaces)),
  /** The roles whose messages may have a `name`. In other messages the name moves into the text. */
  message_names: fact(oneOf(namedRoles)),
  /** false: a list of texts becomes one text. */
  text_parts: fact(Type.Boolean()),
  /** false: the model's earlier refusal becomes its text. */
  refusals: fact(Type.Boolean()),
  /** false: a message of the model without text is sent with `""`. */
  null_content: fact(Type.Boolean()),
  /** false: a message of the model must stand between a tool's result and the user's next message. */
  user_after_tool: fact(Type.Boolean()),
  /** true: a conversation that ends with the model's message gets a user's message after it. */
  ends_with_user: fact(Type.Boolean()),
  /** false: `parallel_tool_calls` is not sent. The gateway enforces it. */
  parallel_tool_calls: fact(Type.Boolean()),
  /** The ids that tool calls may have. Others are replaced. */
  tool_call_ids: fact(oneOf(toolCallIdForms)),
  /** How a model gets back its reasoning from the client. `required`: as sent, and every tool call needs some. */
  reasoning_content: fact(oneOf(reasoningForms)),
});
export type DialectEntry = Static<typeof DialectEntry>;

export interface Dialect {
  developerRole: boolean;
  instructions: (typeof instructionPlaces)[number];
  messageNames: (typeof namedRoles)[number];
  textParts: boolean;
  refusals: boolean;
  nullContent: boolean;
  userAfterTool: boolean;
  endsWithUser: boolean;
  parallelToolCalls: boolean;
  toolCallIds: (typeof toolCallIdForms)[number];
  reasoningContent: (typeof reasoningForms)[number];
}

/** For the formats that convert every message themselves. */
const converted: Dialect = {
  developerRole: true,
  instructions: "anywhere",
  messageNames: "any",
  textParts: true,
  refusals: true,
  nullContent: true,
  userAfterTool: true,
  endsWithUser: false,
  parallelToolCalls: true,
  toolCallIds: "any",
  reasoningContent: "as_sent",
};

/** By the provider's wire format; others have `converted`. */
const defaults: Readonly<Record<string, Dialect>> = {
  openai: {
    ...converted,
    developerRole: false,
    instructions: "one_first",
    refusals: false,
    toolCallIds: "characters_40",
  },
  google: { ...converted, reasoningContent: "never" },
};

/** @param format the provider's wire format, which decides the facts that `entry` lacks */
export function dialectFrom(format: string, entry: DialectEntry = {}): Dialect {
  const usual = defaults[format] ?? converted;
  return {
    developerRole: entry.developer_role?.value ?? usual.developerRole,
    instructions: entry.instructions?.value ?? usual.instructions,
    messageNames: entry.message_names?.value ?? usual.messageNames,
    textParts: entry.text_parts?.value ?? usual.textParts,
    refusals: entry.refusals?.value ?? usual.refusals,
    nullContent: entry.null_content?.value ?? usual.nullContent,
    userAfterTool: entry.user_after_tool?.value ?? usual.userAfterTool,
    endsWithUser: entry.ends_with_user?.value ?? usual.endsWithUser,
    parallelToolCalls: entry.parallel_tool_calls?.value ?? usual.parallelToolCalls,
    toolCallIds: entry.tool_call_ids?.value ?? usual.toolCallIds,
    reasoningContent: entry.reasoning_content?.value ?? usual.reasoningContent,
  };
}

/** Whether reasoning that a client sends back is passed on to a model, or to one of its providers. */
export function takesReasoning({ reasons, routes }: { reasons: boolean; routes: readonly { provider: { dialect: Dialect } }[] }) {
  return reasons && routes.some(({ provider }) => provider.dialect.reasoningContent !== "never");
}

function fact<Value extends TSchema>(value: Value) {
  return Type.Optional(strict({ value, source: Source, seen: Day }));
}

function oneOf<const Word extends string>(words: readonly Word[]) {
  return Type.Union(words.map((word) => Type.Literal(word)));
}
