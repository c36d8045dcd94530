import type { ControlParts } from "../control-api/parts.ts";
import type { OperatorAuthenticator } from "../control-api/operator-authenticator.ts";
import type { Passwords } from "../accounts/sessions/passwords.ts";

export interface ConsoleParts {
  control: ControlParts;
  operator: OperatorAuthenticator;
  passwords: Passwords;
  /** Whether mails are sent; otherwise they wait. */
  sendsMail: boolean;
}
