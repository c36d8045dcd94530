/** The messages of chat completions as they were sent, and the client's messages from which they were made. */
import type { Route } from "../../models/model.ts";
import type { ChatBody } from "../provider.ts";
import type { FieldPath } from "../rejection/field-path.ts";
import { fittedMessages } from "./messages.ts";

/** See `WireFormat.clientField`. All other fields are sent under their own names. */
export function openaiClientField({
  chat: { messages },
  route,
}: {
  chat: ChatBody;
  route: Route;
}): (path: FieldPath) => FieldPath {
  let known: ReturnType<typeof fittedMessages> | null = null;
  return (path) => {
    const [first = "", index = ""] = path;
    if ((first !== "messages" && first !== "prompt") || index === "") return path;
    const sent = (known ??= fittedMessages(messages, route.provider.dialect));
    // Where messages were moved, left out or added, an index may stand for another message.
    const areInPlace =
      sent.length === messages.length && messages.every(({ role }, at) => roleOf(role) === roleOf(sent[at]?.role));
    const message = messages[Number(index)];
    if (!areInPlace || message === undefined) return ["messages"];
    const content = path.indexOf("content");
    // The parts of a content that was rewritten are not the client's.
    return content === -1 || sent[Number(index)]?.content === message.content ? path : path.slice(0, content + 1);
  };
}

function roleOf(role: string | undefined): string | undefined {
  return role === "developer" ? "system" : role;
}
