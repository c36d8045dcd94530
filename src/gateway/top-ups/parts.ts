/** What the verbs of card top-up use. A process has them only where the operator has set a key of Stripe. */
import type { Database, Transaction } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { Logger } from "../../kernel/log.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import type { MailText } from "./mails.ts";
import type { StripeApi } from "./stripe/stripe-api.ts";

export interface TopUpParts {
  sql: Database;
  clock: Clock;
  log: Logger;
  stripe: StripeApi;
  /** Where people reach the service; without a slash at its end. */
  publicUrl: string;
  /** What open requests reserve; null: the counters cannot answer. */
  reserved(workspace: WorkspaceId): Promise<NanoUsd | null>;
  /** Makes the counters read the ledger again, after it changed. */
  refresh(workspace: WorkspaceId): Promise<void>;
  /** Puts a mail to the workspace's admins and super admins into the transaction. */
  mailManagers(mail: MailText & { workspace: WorkspaceId }, tx: Transaction): Promise<void>;
}

/** Refunds take credit away, which gateways must not have been lent. */
export interface RefundParts extends TopUpParts {
  /** What must stay, after gateways have returned what they were lent; null: the counters cannot answer. */
  held(workspace: WorkspaceId): Promise<NanoUsd | null>;
}
