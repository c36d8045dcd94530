/** Sentences of the OpenAPI document as HTML. */
import { markup, type Html } from "../../../http/html.ts";

/** Text between backticks becomes code. */
export function prose(text: string): Html {
  const pieces = text.split("`");
  return markup`${pieces.map((piece, index) => (index % 2 === 1 ? markup`<code>${piece}</code>` : markup`${piece}`))}`;
}

/** The parts with a text between each two, and another before the last. */
export function joined(parts: readonly Html[], between = ", ", last = between): Html {
  const separator = (index: number): string => (index === 0 ? "" : index === parts.length - 1 ? last : between);
  return markup`${parts.map((part, index) => markup`${separator(index)}${part}`)}`;
}
