import { atEnd } from "../../support/processes/at-end.ts";
import { StoredLedgers } from "./stored.ts";

let opened: Promise<StoredLedgers> | null = null;

/** Opens one database for all test files, since that takes seconds. */
export function sharedStored(): Promise<StoredLedgers> {
  return (opened ??= open());
}

async function open(): Promise<StoredLedgers> {
  const stored = await StoredLedgers.open();
  atEnd(() => stored[Symbol.asyncDispose]());
  return stored;
}
