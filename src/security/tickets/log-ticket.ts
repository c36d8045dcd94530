/**
 * Logs a ticket with its attachment and the acknowledgement email in one transaction.
 *
 * Agents retry, so a repeated ticket from the same person within ten minutes is logged once and gets the same answer. The reference is
 * random, so that it does not reveal the number of tickets. The email's headers contain that reference and none of the caller's text, which
 * is quoted in the body.
 */
import { randomInt } from "node:crypto";
import { DomainError } from "../../accounts/errors.ts";
import { insertMail, type NewMail } from "../../accounts/mails/store.ts";
import type { Transaction } from "../../backing/backing.ts";
import { digestOf } from "../../kernel/json.ts";
import { newToolsId } from "../../kernel/ids.ts";
import { ticketRepeatMs } from "../limits.ts";
import type { OperationCall, Outcome } from "../operation.ts";
import { requireTicketQuota } from "./quota.ts";
import type { Confirmation, TicketType } from "./schema.ts";
import * as store from "./store.ts";

interface Draft {
  type: TicketType;
  subject: string;
  /** The caller's text, which the email quotes. */
  text: string;
}

/** @throws DomainError for an unknown attachment; LimitReachedError if the workspace has logged too many tickets */
export async function logTicket(draft: Draft, call: OperationCall<{ attachment_path?: string }>): Promise<Outcome<Confirmation>> {
  const logged = await call.parts.sql.begin((tx) => logIn(tx, draft, call));
  const mailed = draft.type !== "support";
  if (mailed && !logged.repeated) call.parts.notify("mail-waits");
  const { ticket, attachment } = logged;
  return {
    data: {
      ticket_id: ticket.id,
      reference: ticket.reference,
      type: ticket.type,
      status: ticket.status,
      acknowledgement_email: mailed ? "queued" : null,
      attachment: attachment && { name: attachment.name, size: attachment.sizeBytes },
    },
    message: sentences(logged, call, mailed),
  };
}

interface Logged {
  ticket: Pick<store.TicketRecord, "id" | "reference" | "type" | "status">;
  attachment: store.AttachmentRow | null;
  repeated: boolean;
}

async function logIn(tx: Transaction, draft: Draft, call: OperationCall<{ attachment_path?: string }>): Promise<Logged> {
  const { caller, parts } = call;
  const { attachment_path: _path, ...details } = call.input;
  const attachment = await attachmentOf(call, tx);
  // The digest does not depend on the order of fields.
  const fingerprint = digestOf([caller.workspace, caller.actor.email, draft.type, details, attachment?.sha256 ?? null]);
  const now = parts.clock.now();
  const duplicate = await store.lockDuplicate({ fingerprint, after: new Date(now - ticketRepeatMs) }, tx);
  if (duplicate)
    return { ticket: duplicate, attachment: (await store.selectAttachmentOf(duplicate.id, tx)) ?? null, repeated: true };
  if (attachment && attachment.ticket !== null) throw attachmentNotFound();
  const { type, subject, text } = draft;
  const place = { workspace: caller.workspace, owner: caller.actor.email };
  const ticket = { ...place, id: newToolsId("tkt", now), reference: newReference(type), type, subject };
  const inserted = await store.insertTicket({ ...ticket, details, fingerprint, at: new Date(now) }, tx);
  if (!inserted) throw new Error(`The reference ${ticket.reference} was drawn twice`);
  if (attachment && !(await store.updateAttachmentTicket({ id: attachment.id, ticket: ticket.id }, tx)))
    throw attachmentNotFound();
  const mail = acknowledgementOf({ ...ticket, text });
  if (mail) await insertMail({ ...mail, at: new Date(now) }, tx);
  await requireTicketQuota({ workspace: caller.workspace, mailed: mail !== null, now }, tx);
  return { ticket: { ...ticket, status: "open" }, attachment, repeated: false };
}

/**
 * Also returns an attachment that is already used, since a repeated call gives the same ticket. @throws DomainError if it does not exist
 */
async function attachmentOf(
  { attachment: id, caller }: OperationCall<unknown>,
  tx: Transaction,
): Promise<store.AttachmentRow | null> {
  if (id === null) return null;
  const row = await store.lockAttachment({ id, workspace: caller.workspace, owner: caller.actor.email }, tx);
  if (!row) throw attachmentNotFound();
  return row;
}

function attachmentNotFound(): DomainError {
  return new DomainError("not_found", "The attachment no longer exists: send the file again");
}

const digits = 8;

/** Crockford's base 32 has no characters that are confused when read aloud: https://www.crockford.com/base32.html */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

const words: Record<TicketType, string> = { feedback: "FB", bug: "BUG", support: "SUP" };

/** Such as `BUG-7K2M9QXD`. It is random, so that it does not reveal the number of tickets. */
function newReference(type: TicketType): string {
  const text = Array.from({ length: digits }, () => alphabet[randomInt(alphabet.length)]).join("");
  return `${words[type]}-${text}`;
}

interface LoggedText {
  id: string;
  reference: string;
  type: TicketType;
  /** Email address of the person who logged it. */
  owner: string;
  /** That person's text. */
  text: string;
}

const names: Partial<Record<TicketType, string>> = { feedback: "feedback", bug: "bug report" };
const excerptCharactersMax = 200;

/** @returns null if this type sends no email */
function acknowledgementOf({ id, reference, type, owner, text }: LoggedText): NewMail | null {
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

function sentences(
  { ticket, attachment, repeated }: Logged,
  call: OperationCall<{ attachment_path?: string }>,
  mailed: boolean,
): string {
  const { input, caller, parts } = call;
  const ignored = input.attachment_path !== undefined && attachment === null;
  return [
    repeated ? `This was logged a moment ago as ${ticket.reference}` : `Logged as ${ticket.reference}`,
    mailed && parts.sendsMail && `An acknowledgement goes to ${caller.actor.email}`,
    mailed && !parts.sendsMail && `An acknowledgement to ${caller.actor.email} waits until this service can send mail`,
    ignored && "attachment_path was ignored: files are read only where the MCP server runs on your machine, over stdio",
  ]
    .filter((sentence) => sentence !== false)
    .join(". ");
}
