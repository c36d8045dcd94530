/**
 * The credit that workspaces have left, for graphs. A series for each workspace would grow with the customers and tell whoever reads
 * the metrics who they are, so workspaces are counted by what they have left.
 */
import type { NanoUsd } from "../../kernel/money.ts";

const usd = 1_000_000_000n;

export class CreditLeft {
  /** By the credit that is left. */
  readonly workspaces = { "below 0": 0, "0": 0, "below 1": 0, "below 10": 0, "10 or more": 0 };
  #total: NanoUsd = 0n;

  /** The credit of all workspaces that have some. */
  get total(): NanoUsd {
    return this.#total;
  }

  add(balance: NanoUsd): void {
    if (balance > 0n) this.#total += balance;
    if (balance < 0n) this.workspaces["below 0"]++;
    else if (balance === 0n) this.workspaces["0"]++;
    else if (balance < usd) this.workspaces["below 1"]++;
    else if (balance < 10n * usd) this.workspaces["below 10"]++;
    else this.workspaces["10 or more"]++;
  }
}
