/** Lua counts in doubles, exact up to 2^53 - 1 nano-USD, which is 9.007 million USD. Both implementations of the counters keep this bound. */
import type { NanoUsd } from "../kernel/money.ts";
import { formatUsd } from "../kernel/money.ts";
import type { AccountPush } from "./counters.ts";

const creditNanoMax: NanoUsd = 9_000_000n * 1_000_000_000n;

/** @throws RangeError when the balance cannot be counted exactly */
export function assertCountable(account: AccountPush): void {
  if (account.balance <= creditNanoMax) return;
  throw new RangeError(
    `Cannot load workspace "${account.workspace}": its balance of ${formatUsd(account.balance)} USD is above the ` +
      `${formatUsd(creditNanoMax)} USD that can be counted exactly`,
  );
}

/** One push must not fail all others in its batch: the part above the bound cannot be spent until the rest is spent. */
export function countableBalance(balance: NanoUsd): NanoUsd {
  return balance > creditNanoMax ? creditNanoMax : balance;
}
