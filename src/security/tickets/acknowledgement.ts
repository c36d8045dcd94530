/** The mail that confirms a ticket. Of the ticket, only the generated reference is in a header. */
import type { NewMail } from "../../accounts/mails/store.ts";
import type { TicketType } from "./schema.ts";

const names: Partial<Record<TicketType, string>> = { feedback: "feedback", bug: "bug report" };
const excerptCharactersMax = 200;

interface Logged {
  id: string;
  reference: string;
  type: TicketType;
  /** E-mail address of the person who logged it. */
  owner: string;
  /** The text of that person. */
  text: string;
}

/** @returns null when no mail is sent for this type */
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
