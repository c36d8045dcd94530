/** The fields of {w}:a, where all that is known of a workspace stands (counters.ts). */
import type { Month } from "../../kernel/clock.ts";
import type { KeyId } from "../../kernel/ids.ts";

/** Of the workspace as a whole. */
export const headField = "head";

/** What the workspace spent and holds in a month. */
export function monthField(month: Month): string {
  return `m:${month}`;
}

/** What a key spent and holds in a month. */
export function keyMonthField({ key, month }: { key: KeyId; month: Month }): string {
  return `k:${key}:${month}`;
}

/** A key's window. Behind {w} and a colon it also names the list of its times. */
export function windowField(key: KeyId): string {
  return `n:${key}`;
}
