/** Reads how mails are sent. */
import { Secret } from "../../kernel/secret.ts";
import { ConfigError, type Environment } from "../variables.ts";
import { secretText } from "./secret-variables.ts";

export interface MailConfig {
  /** It may hold a password. */
  smtpUrl: Secret;
  from: { name: string; address: string };
}

/** @returns null: mails wait @throws ConfigError */
export function readMail(environment: Environment): MailConfig | null {
  const url = secretText(environment, "SMTP_URL");
  const sender = environment["MAIL_FROM"];
  const from = sender ? readSender(sender) : null;
  if (!url) return null;
  if (!/^smtps?:\/\/\S+$/.test(url) || !URL.canParse(url)) {
    throw new ConfigError("SMTP_URL is not an address such as smtp://user:password@host:587 or smtps://user:password@host:465");
  }
  if (from === null) throw new ConfigError("MAIL_FROM is required when SMTP_URL is set: the address that mails come from");
  return { smtpUrl: new Secret(url), from };
}

/** `weir@example.com` or `Weir <weir@example.com>`. */
function readSender(text: string): MailConfig["from"] {
  const [, name = "", bracketed, bare] = /^(?:([^<>"\p{Cc}]*)<([^<>]+)>|(\S+))$/u.exec(text.trim()) ?? [];
  const address = bracketed ?? bare ?? "";
  if (/^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(address)) return { name: name.trim(), address };
  throw new ConfigError(`MAIL_FROM is "${text}": an address such as weir@example.com or Weir <weir@example.com> is needed`);
}
