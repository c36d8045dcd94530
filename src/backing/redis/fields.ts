/** The fields of the hash {w}:a, which holds the counters of a workspace (see ../counters.ts). */
import type { Month } from "../../kernel/clock.ts";
import type { KeyId } from "../../kernel/ids.ts";

/** Of the workspace as a whole. */
export const headField = "head";

/** What is lent to gateways. */
export const lendingField = "lending";

/** Spent and held by the workspace in a month. */
export function monthField(month: Month): string {
  return `m:${month}`;
}

/** Spent and held by a key in a month. */
export function keyMonthField({ key, month }: { key: KeyId; month: Month }): string {
  return `k:${key}:${month}`;
}

/** Spent and held of a budget, in the period that it is in. */
export function budgetField(name: string): string {
  return `b:${name}`;
}

/** The name of the budget that has this field. */
export function budgetOf(field: string): string {
  return field.slice(2);
}

/** A key's rate window. After {w} and a colon it also names the list of its times. */
export function windowField(key: KeyId): string {
  return `n:${key}`;
}
