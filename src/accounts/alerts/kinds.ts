/** The kinds of alerts. A new kind is a row here and, if it watches spend, a source in store.ts. */

interface Kind {
  /**
   * When it is reported. limit: when a percentage of a limit is spent, once per period. balance: when the balance falls below an amount.
   * event: when it happens; admins get its mail even without a rule. chosen: when it happens, only with a rule. schedule: after each
   * period.
   */
  tells: "limit" | "balance" | "event" | "chosen" | "schedule";
  /** What has the limit, if there may be many: a rule may then watch a single one. */
  of?: "key" | "member";
  /** What it is about, as lists show it. */
  title: string;
  /** When it is reported, in a sentence for people who choose a kind. */
  when: string;
}

export const alertKinds = {
  key_month: {
    tells: "limit",
    of: "key",
    title: "Monthly limit of a key",
    when: "A key has spent a share of its monthly limit. Once a month for each share.",
  },
  workspace_month: {
    tells: "limit",
    title: "Monthly limit of the workspace",
    when: "The workspace has spent a share of its monthly limit. Once a month for each share.",
  },
  key_day: {
    tells: "limit",
    of: "key",
    title: "Daily limit of a key",
    when: "A key has spent a share of its daily limit. Once a day for each share.",
  },
  workspace_day: {
    tells: "limit",
    title: "Daily limit of the workspace",
    when: "The workspace has spent a share of its daily limit. Once a day for each share.",
  },
  member_month: {
    tells: "limit",
    of: "member",
    title: "Monthly limit of a member",
    when: "A member has spent a share of their monthly limit. Once a month for each share.",
  },
  balance: {
    tells: "balance",
    title: "Balance below an amount",
    when: "The credit falls below an amount. Again only after it was a quarter above it.",
  },
  provider_key_refused: {
    tells: "event",
    title: "Provider key refused",
    when: "A provider refuses one of the workspace’s own keys. At most once a day for each key.",
  },
  top_up_failed: { tells: "event", title: "Top-up failed", when: "A top-up by card fails. Each time." },
  new_findings: {
    tells: "chosen",
    title: "New findings",
    when: "A scan finds vulnerabilities that a project did not have before. Once for each scan.",
  },
  accepted_risk_ended: {
    tells: "chosen",
    title: "Accepted risk ended",
    when: "The last day of an accepted risk is over, and the finding is open again. Once for each ending.",
  },
  usage_day: {
    tells: "schedule",
    title: "Usage of each day",
    when: "What was spent, in all and by model and key, an hour after each day in UTC.",
  },
  usage_week: {
    tells: "schedule",
    title: "Usage of each week",
    when: "What was spent, in all and by model and key, an hour after each Sunday in UTC.",
  },
  usage_month: {
    tells: "schedule",
    title: "Usage of each month",
    when: "What was spent, in all and by model and key, an hour after each month in UTC.",
  },
} as const satisfies Record<string, Kind>;

export type AlertKind = keyof typeof alertKinds;
export type LimitKind = { [Name in AlertKind]: (typeof alertKinds)[Name]["tells"] extends "limit" ? Name : never }[AlertKind];
export type EventKind = {
  [Name in AlertKind]: (typeof alertKinds)[Name]["tells"] extends "event" | "chosen" ? Name : never;
}[AlertKind];
export type ReportKind = { [Name in AlertKind]: (typeof alertKinds)[Name]["tells"] extends "schedule" ? Name : never }[AlertKind];

// Object.keys has the type string[]; these are the keys of the table above.
export const alertKindNames = Object.keys(alertKinds) as AlertKind[];

/** A test of a webhook is an alert of this kind; no rule has it. */
export const testKind = "test";

export function kindTitle(kind: string): string {
  return kind === testKind ? "Test" : (Object.entries(alertKinds).find(([name]) => name === kind)?.[1].title ?? kind);
}

export function isLimitKind(kind: AlertKind): kind is LimitKind {
  return alertKinds[kind].tells === "limit";
}

/** Whether a text names a kind of rule. */
export function isAlertKind(text: string): text is AlertKind {
  return Object.hasOwn(alertKinds, text);
}

/** What has the limit that a kind watches, if there may be many; null: the kind watches one thing, or events. */
export function watchedBy(kind: AlertKind): "key" | "member" | null {
  const row: Kind = alertKinds[kind];
  return row.of ?? null;
}
