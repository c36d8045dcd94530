/** The kinds of alerts. A new kind is a row here and, if it watches spend, a source in store.ts. */

interface Kind {
  /**
   * When it is reported. limit: when a percentage of a limit is spent, once per period. balance: when the balance falls below an amount.
   * event: when it happens; admins get its mail even without a rule. chosen: when it happens, only with a rule.
   */
  tells: "limit" | "balance" | "event" | "chosen";
  /** What it is about, as lists show it. */
  title: string;
}

export const alertKinds = {
  key_month: { tells: "limit", title: "Monthly limit of a key" },
  workspace_month: { tells: "limit", title: "Monthly limit of the workspace" },
  key_day: { tells: "limit", title: "Daily limit of a key" },
  workspace_day: { tells: "limit", title: "Daily limit of the workspace" },
  member_month: { tells: "limit", title: "Monthly limit of a member" },
  balance: { tells: "balance", title: "Balance below an amount" },
  provider_key_refused: { tells: "event", title: "Provider key refused" },
  top_up_failed: { tells: "event", title: "Top-up failed" },
  new_findings: { tells: "chosen", title: "New findings" },
} as const satisfies Record<string, Kind>;

export type AlertKind = keyof typeof alertKinds;
export type LimitKind = { [Name in AlertKind]: (typeof alertKinds)[Name]["tells"] extends "limit" ? Name : never }[AlertKind];
export type EventKind = {
  [Name in AlertKind]: (typeof alertKinds)[Name]["tells"] extends "event" | "chosen" ? Name : never;
}[AlertKind];

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
