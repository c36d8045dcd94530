/** Which fields a request to a chat model may have. */
import type { ModelDetails } from "../../../gateway/models/listing.ts";
import { chatFields, type ChatField } from "../../../gateway/api/request/chat-fields.ts";
import { factsOf } from "../../../gateway/api/request/requested-model.ts";
import { markup, type Html } from "../../../http/html.ts";
import { table } from "../../look/table.ts";

export function requestFields(model: ModelDetails): Html {
  const served = chatFields.filter(({ accepts }) => accepts !== "nothing");
  const [open, refused] = [served.filter((field) => isOpen(field, model)), served.filter((field) => !isOpen(field, model))];
  return markup`<p>A request has <code>model</code> and <code>messages</code>, and may have the ${open.length} fields beneath.${named(
    "This model does not take",
    refused.map(({ name }) => name),
  )}${named("It takes only the default value of", model.default_only)}</p>
    <details><summary>The ${open.length} fields with their values</summary>
    ${table<ChatField>({
      caption: "Fields of a request",
      columns: [
        { label: "Field", kind: "text", cell: ({ name }) => markup`<code>${name}</code>` },
        { label: "Values", kind: "text", cell: ({ accepts }) => withCode(accepts) },
        { label: "Effect", kind: "text", cell: ({ effect }) => withCode(effect) },
      ],
      rows: open,
      empty: markup``,
    })}</details>`;
}

function isOpen({ needs }: ChatField, { supports }: ModelDetails): boolean {
  if (needs === undefined || supports.includes(needs)) return true;
  const { impliedBy } = factsOf(needs);
  return impliedBy !== undefined && supports.includes(impliedBy);
}

function named(words: string, names: readonly string[]): Html | null {
  if (names.length === 0) return null;
  return markup` ${words} ${names.map((name, index) => markup`${index === 0 ? "" : ", "}<code>${name}</code>`)}.`;
}

/** What stands between backticks is code. */
function withCode(text: string): Html {
  return markup`${text.split("`").map((part, index) => (index % 2 === 1 ? markup`<code>${part}</code>` : markup`${part}`))}`;
}
