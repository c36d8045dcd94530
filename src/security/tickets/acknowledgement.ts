/** The mail that says a ticket is logged. Nothing of the ticket stands in a header but its reference, which is ours. */
import type { NewMail } from "../mails/store.ts";
import type { TicketType } from "./schema.ts";

const names: Partial<Record<TicketType, string>> = { feedback: "feedback", bug: "bug report" };
const excerptCharactersMax = 200;

interface Logged {
  id: string;
  reference: string;
  type: TicketType;
  /** E-mail address of whoever logged it. */
  owner: string;
  /** What they wrote. */
  text: string;
}

/** null: no mail is sent for this type. */
export function acknowledgementOf({ id, reference, type, owner, text }: Logged): NewMail | null {
  const name = names[type];
  if (name === undefined) return null;
  const characters = [...text];
  const excerpt = characters.slice(0, excerptCharactersMax).join("") + (characters.length > excerptCharactersMax ? "…" : "");
  const body = `Your ${name} is logged as ${reference}. Name this reference when you write to us about it.

You wrote:

${excerpt.replaceAll(/^/gm, "> ")}
`;
  return { ticket: id, recipient: owner, subject: `[${reference}] We received your ${name}`, body };
}
