/** What providers refuse in the messages of a chat completion, with the words of their errors, as users have reported them. */

export type Message = Record<string, unknown>;

/** The words of the refusal; null: it passes. */
export type Rule = (messages: readonly Message[]) => string | null;

/** The first refusal of several rules. */
export function all(...rules: Rule[]): Rule {
  return (messages) => first(rules, (rule) => rule(messages));
}

function each(refusal: (message: Message, at: number) => string | null): Rule {
  return (messages) => first(messages.entries(), ([at, message]) => refusal(message, at));
}

function first<Item>(items: Iterable<Item>, find: (item: Item) => string | null): string | null {
  for (const item of items) {
    const found = find(item);
    if (found !== null) return found;
  }
  return null;
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const idsIn = ({ tool_calls }: Message): string[] => list(tool_calls).map((call) => (call as { id: string }).id);
const isSystem = ({ role }: Message): boolean => role === "system" || role === "developer";

export function roles(...known: string[]): Rule {
  return each(({ role }) => (known.includes(String(role)) ? null : `Incorrect role information: ${String(role)}`));
}

/** By role: the fields besides `role` and `content`. */
export function onlyFields(known: Record<string, readonly string[]>): Rule {
  return each((message, at) => {
    const allowed = ["role", "content", ...(known[String(message["role"])] ?? [])];
    const unknown = Object.keys(message).find((field) => !allowed.includes(field));
    return unknown === undefined ? null : `messages.${at}.${String(message["role"])}.${unknown}: extra inputs are not permitted`;
  });
}

export function toolCallIds(allows: (id: string) => boolean, words: string): Rule {
  return each((message) => {
    const id = [...idsIn(message), ...[message["tool_call_id"] ?? []].flat()].find((one) => !allows(String(one)));
    return id === undefined ? null : `Tool call id was ${String(id)} but ${words}`;
  });
}

/** Every call has one result, right after it, and every result a call. */
export const callsAnswered: Rule = (messages) => {
  let open: string[] = [];
  for (const message of messages) {
    if (message["role"] === "tool") {
      const id = String(message["tool_call_id"]);
      if (!open.includes(id)) return `tool_call_id ${id} has no call before it`;
      open = open.filter((one) => one !== id);
      continue;
    }
    if (open.length > 0) return `tool_calls without a result: ${open.join(", ")}`;
    open = idsIn(message);
    if (new Set(open).size < open.length) return "duplicate tool call ids";
  }
  return open.length > 0 ? `tool_calls without a result: ${open.join(", ")}` : null;
};

export const textsAlone: Rule = each(({ content }, at) =>
  content === undefined || content === null || typeof content === "string"
    ? null
    : `body.messages.${at}.content: Input should be a valid string`,
);

export const assistantSpeaks: Rule = each(({ role, content, tool_calls }, at) =>
  role !== "assistant" || tool_calls !== undefined || (content !== undefined && content !== null && content !== "")
    ? null
    : `the message at position ${at} with role 'assistant' must not be empty`,
);

export const noEmptyParts: Rule = each(({ content }) =>
  list(content).some((part) => (part as Message)["text"] === "") ? "text content is empty" : null,
);

export const contentAlways: Rule = each(({ content }) =>
  typeof content === "string" || list(content).length > 0 ? null : "Each message must have at least one content element.",
);

export const reasoningWithCalls: Rule = each(({ tool_calls, reasoning_content }, at) =>
  tool_calls === undefined || (typeof reasoning_content === "string" && reasoning_content !== "")
    ? null
    : `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${at}`,
);

export const oneInstruction: Rule = (messages) =>
  messages.findLastIndex(isSystem) > 0 ? "System message must be at the beginning." : null;

export const namesOfUsers: Rule = each(({ role, name }) =>
  name === undefined || role === "user" ? null : "Only messages of role 'user' can have a name.",
);

/** By role: the roles that may not follow it. */
export function neverAfter(followers: Record<string, readonly string[]>): Rule {
  return (messages) =>
    first(messages.entries(), ([at, { role }]) => {
      const before = String(messages[at - 1]?.["role"]);
      return followers[before]?.includes(String(role)) ? `Unexpected role '${String(role)}' after role '${before}'` : null;
    });
}

export const userLast: Rule = (messages) =>
  messages.at(-1)?.["role"] === "assistant"
    ? "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
    : null;

/** Anthropic's Messages API. */
export const anthropicTurns: Rule = (messages) => {
  let open: string[] = [];
  for (const { role, content } of messages) {
    if (role !== "user" && role !== "assistant") return `messages: unexpected role ${String(role)}`;
    const blocks = list(content) as Message[];
    if (blocks.length === 0) return "all messages must have non-empty content";
    if (blocks.some(({ type, text }) => type === "text" && !/\S/.test(String(text))))
      return "text content blocks must be non-empty";
    const results = blocks.filter(({ type }) => type === "tool_result").map(({ tool_use_id }) => String(tool_use_id));
    const lost = open.find((id) => !results.includes(id)) ?? results.find((id) => !open.includes(id));
    if (lost !== undefined) return `tool_use ${lost} without its tool_result, or the reverse`;
    open = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => String(id));
    const wrong = open.find((id) => !/^[a-zA-Z0-9_-]+$/.test(id));
    if (wrong !== undefined) return `tool_use.id: ${wrong} should match pattern '^[a-zA-Z0-9_-]+$'`;
    const signed = blocks.find(({ type, signature }) => type === "thinking" && signature !== anthropicSignature);
    if (signed) return "Invalid `signature` in `thinking` block";
  }
  return null;
};

/** The signature of the thinking that the mock itself makes. */
export const anthropicSignature = "c2lnbmVkLWJ5LWNsYXVkZQ==";

/** generateContent of Gemini 3 and later. */
export const googleContents: Rule = (contents) => {
  let calls = 0;
  for (const { role, parts, ...others } of contents) {
    if (role !== "user" && role !== "model") return `Please use a valid role: user, model; ${String(role)}`;
    if (Object.keys(others).length > 0) return `Unknown name "${Object.keys(others)[0]}" at 'contents'`;
    const said = list(parts) as Message[];
    if (said.length === 0) return "contents.parts must not be empty";
    const answered = said.filter(({ functionResponse }) => functionResponse !== undefined).length;
    if (answered !== calls) return "the number of function response parts is not that of the function call parts";
    const made = said.filter(({ functionCall }) => functionCall !== undefined);
    calls = made.length;
    const [signed] = made;
    if (signed && !googleSignatures.includes(String(signed["thoughtSignature"])))
      return "Function call is missing a thought_signature";
  }
  return null;
};

/** The signatures of the calls that the mock itself makes, and the documented word for those of other models. */
export const googleSignatures = ["c2lnbmVkLWJ5LWdlbWluaQ==", "skip_thought_signature_validator"];
