/** The mail server that SMTP_URL names: mails as plain text, with nothing in a header that a user wrote. */
import { createTransport } from "nodemailer";
import type { MailConfig } from "../../config.ts";
import { mailServerMs } from "../limits.ts";
import type { Mail } from "./store.ts";

/** Whether the server took a mail; the reason is a code, never the server's text. */
export type Delivery = { kind: "accepted" } | { kind: "refused" | "put_off"; reason: string };

export interface MailServer {
  /** What Message-IDs end with. */
  domain: string;
  /** Connects and signs in, so that a server that is away counts against no mail. @throws when it is */
  reach(): Promise<void>;
  /** Never rejects. */
  deliver(mail: Mail): Promise<Delivery>;
}

export function mailServer({ smtpUrl, from }: MailConfig): MailServer {
  const transport = createTransport({
    url: smtpUrl.reveal(),
    connectionTimeout: mailServerMs,
    greetingTimeout: mailServerMs,
    socketTimeout: mailServerMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    domain: from.address.slice(from.address.lastIndexOf("@") + 1),
    async reach() {
      await transport.verify();
    },
    async deliver({ recipient, subject, body, messageId }) {
      if (!oneMailbox.test(recipient)) return { kind: "refused", reason: "the recipient is no mailbox" };
      try {
        await transport.sendMail({
          from,
          to: { name: "", address: recipient },
          envelope: { from: from.address, to: [recipient] },
          subject,
          text: body,
          messageId,
          headers: { "Auto-Submitted": "auto-replied" },
        });
        return { kind: "accepted" };
      } catch (error) {
        return { kind: isFinal(error) ? "refused" : "put_off", reason: reasonOf(error) };
      }
    },
  };
}

/** Without what would make several addresses of one, or something else: the library reads even a recipient of the envelope as a list. */
const oneMailbox = /^[^\s@<>()[\]\\,;:"\p{Cc}]+@[^\s@<>()[\]\\,;:"\p{Cc}]+$/u;

interface SmtpFailure {
  code?: unknown;
  /** Of the server's answer: 4xx asks to try again, 5xx not to (RFC 5321, 4.2.1). */
  responseCode?: unknown;
  /** What was answered so. */
  command?: unknown;
}

/** The recipient or the mail was refused for good. A refused sender is our own setting, which may be put right. */
function isFinal(error: unknown): boolean {
  const { code, responseCode, command } = failureOf(error);
  if (code !== "EENVELOPE" && code !== "EMESSAGE") return false;
  if (responseCode === undefined) return true;
  const permanent = typeof responseCode === "number" && responseCode >= 500 && responseCode !== 503 && responseCode !== 530;
  return permanent && (command === "RCPT TO" || command === "DATA");
}

export function reasonOf(error: unknown): string {
  const { code, responseCode, command } = failureOf(error);
  const words = [code ?? "unknown", command, responseCode].filter((word) => word !== undefined);
  return words.join(" ");
}

function failureOf(error: unknown): SmtpFailure {
  return typeof error === "object" && error !== null ? error : {};
}
