/** A stored prompt with its answer, as text. Nothing of it is taken for markup, and images and files are named by their type alone. */
import type { PromptView } from "../../../gateway/prompts/prompts.ts";
import { markup, type Html } from "../../../http/html.ts";
import { isJsonObject } from "../../../http/json.ts";

/** Of one message; a prompt may have megabytes. */
const charactersMax = 20_000;
const messagesMax = 200;

export function promptContents({ messages, answer, answer_cut: isCut, generation_id: id }: PromptView): Html {
  const newest = messages.slice(-messagesMax);
  const left = messages.length - newest.length;
  const isShortened =
    left > 0 || [...newest, answer].some((message) => message !== null && textOf(message).length > charactersMax);
  return markup`${isShortened ? markup`<p class="under">Long texts are shortened here. The whole is in <code>weir prompt show --id ${id}</code>.</p>` : null}
    ${left > 0 ? markup`<p class="under">${left} earlier messages are left out.</p>` : null}
    ${newest.map((message, index) => shown(message, { name: `${left + index + 1}. ${roleOf(message)}`, id: `message-${index}` }))}
    ${answer === null ? markup`<p>No answer is stored.</p>` : shown(answer, { name: "The answer", id: "answer" })}
    ${isCut ? markup`<p class="under">The answer was longer than what is stored of it.</p>` : null}`;
}

type Message = PromptView["messages"][number];

function shown(message: Message, { name, id }: { name: string; id: string }): Html {
  const text = textOf(message);
  const part = text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
  return markup`<h3 id="${id}">${name}</h3><pre tabindex="0" role="region" aria-labelledby="${id}" class="prose" dir="auto">${part === "" ? "(empty)" : part}</pre>`;
}

function roleOf({ role }: Message): string {
  return typeof role === "string" ? role : "message";
}

/** The text, then everything else as JSON. */
function textOf({ content, role: _role, ...others }: Message): string {
  const rest = Object.entries(others).filter(([, value]) => value !== null);
  return [contentText(content), ...rest.map(([name, value]) => `${name}: ${JSON.stringify(value, null, 2)}`)]
    .filter((text) => text !== "")
    .join("\n\n");
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map(partText).join("\n");
}

function partText(part: unknown): string {
  if (!isJsonObject(part)) return "";
  if (typeof part["text"] === "string") return part["text"];
  return `[${String(part["type"])}]`;
}
