/**
 * Sends mails as plain text to the server of SMTP_URL. No header contains user text. A recipient is one mailbox, since the library reads
 * even the envelope's recipient as a list. Reasons for a refusal are codes, never the server's text. Only a permanent refusal ends a mail.
 * A refused sender does not, since it is a setting of this service that can be corrected.
 */
import type { Transporter } from "nodemailer";
import type { Secret } from "../../kernel/secret.ts";
import type { MailConfig } from "../../process/environment/services.ts";
import { mailServerMs } from "../limits.ts";
import type { Mail } from "./store.ts";

/** Whether the server accepted a mail. The reason is a code, never the server's text. */
export type Delivery = { kind: "accepted" } | { kind: "refused" | "put_off"; reason: string };

export interface MailServer {
  /** The domain of Message-IDs. */
  domain: string;
  /** Connects and signs in, so that no attempt is counted while the server is unreachable. @throws when it is unreachable */
  reach(): Promise<void>;
  /** Never rejects. */
  deliver(mail: Mail): Promise<Delivery>;
}

export function mailServer({ smtpUrl, from }: MailConfig): MailServer {
  let opened: Promise<Transporter> | null = null;
  // The package is loaded for the first mail: a mailer without mails needs 8 MB less.
  const transport = (): Promise<Transporter> => (opened ??= openTransport(smtpUrl));
  return {
    domain: from.address.slice(from.address.lastIndexOf("@") + 1),
    async reach() {
      await (await transport()).verify();
    },
    async deliver({ recipient, subject, body, messageId }) {
      if (!oneMailbox.test(recipient)) return { kind: "refused", reason: "the recipient is not a mail address" };
      try {
        await (
          await transport()
        ).sendMail({
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

/** Excludes separators: the library reads even a recipient of the envelope as a list of addresses. */
const oneMailbox = /^[^\s@<>()[\]\\,;:"\p{Cc}]+@[^\s@<>()[\]\\,;:"\p{Cc}]+$/u;

export function reasonOf(error: unknown): string {
  const { code, responseCode, command } = failureOf(error);
  const words = [code ?? "unknown", command, responseCode].filter((word) => word !== undefined);
  return words.join(" ");
}

async function openTransport(smtpUrl: Secret): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  return createTransport({
    url: smtpUrl.reveal(),
    connectionTimeout: mailServerMs,
    greetingTimeout: mailServerMs,
    socketTimeout: mailServerMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Whether the recipient or the mail is refused permanently. A refused sender is a setting of this service, which can be corrected. */
function isFinal(error: unknown): boolean {
  const { code, responseCode, command } = failureOf(error);
  if (code !== "EENVELOPE" && code !== "EMESSAGE") return false;
  if (responseCode === undefined) return true;
  const permanent = typeof responseCode === "number" && responseCode >= 500 && responseCode !== 503 && responseCode !== 530;
  return permanent && (command === "RCPT TO" || command === "DATA");
}

interface SmtpFailure {
  code?: unknown;
  /** The server's reply code: 4xx is temporary, 5xx permanent (RFC 5321, 4.2.1). */
  responseCode?: unknown;
  /** The SMTP command that got this reply. */
  command?: unknown;
}

function failureOf(error: unknown): SmtpFailure {
  return typeof error === "object" && error !== null ? error : {};
}
