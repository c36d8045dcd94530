/** Makes the body of a request: a conversation with a given number of bytes, in messages of realistic size. */
import { Buffer } from "node:buffer";
import { agentBody, type AgentApi } from "./agent-body.ts";

export interface BodyPlan {
  model: string;
  streamed: boolean;
  /** The exact size, unless it is below the smallest body. */
  bodyBytes: number;
  maxTokens: number;
  /** For embeddings: how many texts share the bytes; absent: a conversation. */
  texts?: number | null;
  /** The request of an agent in the form of this API, always streamed; absent: a conversation alone. */
  agent?: AgentApi | null;
}

interface Message {
  role: "user" | "assistant";
  content: string;
}

/** A body up to this size has one message. Larger ones have messages of about this size. */
const messageBytes = 4_096;
/** Odd, since a conversation begins and ends with the user. The API accepts at most 2,000. */
const messagesMax = 1_999;

const question = "The weir is low, the river wide, and every drop is counted. ";
/** Contains characters that slow JSON down: line ends, quotes, and non-ASCII characters. */
const answer = [
  'It passes `rate × time`:\n\n```ts\nconst litres = rate * seconds; // no “about”, no "roughly"\n```\n\n',
  "- each drop is counted once – whoever looks, and however often\n- a naïve sum counts the spray as well\n\n",
].join("");
const answerBytes = Buffer.byteLength(JSON.stringify(answer)) - 2;

export function bodyOf({ model, streamed, bodyBytes, maxTokens, texts, agent }: BodyPlan): Buffer {
  if (agent != null) return agentBody(agent, { model, bodyBytes, maxTokens });
  if (texts != null) {
    const input = Array.from({ length: texts }, () => questionOf(Math.ceil(bodyBytes / texts)));
    return Buffer.from(JSON.stringify({ model, input, encoding_format: "base64" }));
  }
  const whole = (messages: Message[]): Buffer =>
    Buffer.from(JSON.stringify({ model, messages, max_tokens: maxTokens, ...(streamed ? { stream: true } : {}) }));
  const messages = emptyMessages(bodyBytes);
  const missing = bodyBytes - whole(messages).length;
  fill(messages, missing);
  return whole(messages);
}

function emptyMessages(bodyBytes: number): Message[] {
  const pairs = Math.min(Math.floor(bodyBytes / messageBytes / 2), (messagesMax - 1) / 2);
  return Array.from({ length: 2 * pairs + 1 }, (_, n) => ({ role: n % 2 === 0 ? "user" : "assistant", content: "" }));
}

/** Distributes the missing bytes evenly. The last message, a question of single-byte characters, takes the rest. */
function fill(messages: Message[], missing: number): void {
  const share = Math.floor(missing / messages.length);
  let left = missing;
  for (const message of messages.slice(0, -1)) {
    const answers = Math.floor(share / answerBytes);
    message.content = message.role === "user" ? questionOf(share) : answer.repeat(answers);
    left -= message.role === "user" ? share : answers * answerBytes;
  }
  for (const message of messages.slice(-1)) message.content = questionOf(Math.max(1, left));
}

function questionOf(bytes: number): string {
  return question.repeat(Math.ceil(bytes / question.length)).slice(0, bytes);
}
