/** The twenty-three invariants, the evidence that each needs, and the function with which every harness checks them all. */
import { blocksHold } from "./checks/blocks.ts";
import { budgetsHold } from "./checks/budgets.ts";
import { chargedOnce } from "./checks/charged-once.ts";
import { nothingIsHeld } from "./checks/counters-conserve.ts";
import { countersEqualLedger } from "./checks/counters-equal-ledger.ts";
import { creditedOnce } from "./checks/credited-once.ts";
import { creditCoversHolds } from "./checks/credit-covers-holds.ts";
import type { Evidence, Finding } from "./evidence.ts";
import { failClosed } from "./checks/fail-closed.ts";
import type { History } from "./history.ts";
import { withoutLost } from "./without-lost.ts";
import { disconnectIsCharged } from "./checks/disconnect-is-charged.ts";
import { monthLimits } from "./checks/month-limits.ts";
import { noDebt } from "./checks/no-debt.ts";
import { noSecrets } from "./checks/no-secrets.ts";
import { oneCharge } from "./checks/one-charge.ts";
import { ownKeysCostNothing } from "./checks/own-keys/own-keys-cost-nothing.ts";
import { rateWindow } from "./checks/rate-window.ts";
import { recovery } from "./checks/recovery.ts";
import { refusalsChangeNothing } from "./checks/refusals-change-nothing.ts";
import { reservedBeforeCalled } from "./checks/reserved-before-called.ts";
import { retryAfter } from "./checks/retry-after.ts";
import { revocation } from "./checks/revocation.ts";
import { serviceKeyIsAllowed } from "./checks/own-keys/service-key-is-allowed.ts";
import { storedMoney, type storedInvariants } from "./checks/stored-money.ts";
import { unpaidIsBounded } from "./checks/unpaid-work.ts";

/** stored: the checks of `weir ledger verify`, as in production. settled: counters compared with the ledger at the end of a run. */
type Need = "history" | "stored" | "settled" | "secrets";

interface Invariant {
  id: string;
  promise: string;
  /** The checkers by the evidence that they need. An invariant may have two. */
  checkers: Partial<Record<Need, (evidence: Evidence) => Finding | null>>;
}

const ofHistory =
  (check: (history: History, delayMsMax: number) => Finding) =>
  ({ history, delayMsMax }: Evidence): Finding | null =>
    history && check(withoutLost(history), delayMsMax);

/** A check that follows the history moment by moment: what was lost later counted until then. */
const ofWholeHistory =
  (check: (history: History, delayMsMax: number) => Finding) =>
  ({ history, delayMsMax }: Evidence): Finding | null =>
    history && check(history, delayMsMax);

const both =
  (...checks: ((history: History) => Finding)[]) =>
  (history: History): Finding => {
    const findings = checks.map((check) => check(history));
    return {
      checks: findings.reduce((sum, finding) => sum + finding.checks, 0),
      broken: findings.flatMap(({ broken }) => broken),
    };
  };

const ofStored =
  (id: keyof typeof storedInvariants) =>
  ({ stored }: Evidence): Finding | null =>
    stored && storedMoney(id, stored);

export const invariants: readonly Invariant[] = [
  { id: "I-1", promise: "a provider is called only with a reservation", checkers: { history: ofHistory(reservedBeforeCalled) } },
  { id: "I-2", promise: "a balance below zero is explained", checkers: { stored: ofStored("I-2") } },
  { id: "I-3", promise: "credit covers all that is held", checkers: { history: ofWholeHistory(creditCoversHolds) } },
  { id: "I-4", promise: "the ledger is one gapless chain", checkers: { stored: ofStored("I-4") } },
  { id: "I-5", promise: "no minute has more than the limit", checkers: { history: ofHistory(rateWindow) } },
  { id: "I-6", promise: "Retry-After is exact", checkers: { history: ofHistory(retryAfter) } },
  { id: "I-7", promise: "refusals change nothing", checkers: { history: ofHistory(refusalsChangeNothing) } },
  {
    id: "I-8",
    promise: "each call is charged once, and exactly its cost",
    checkers: { stored: ofStored("I-8"), history: ofHistory(chargedOnce) },
  },
  {
    id: "I-9",
    promise: "counters hold the sum of their holds",
    checkers: { settled: ({ settled }) => settled && nothingIsHeld(settled) },
  },
  {
    id: "I-10",
    promise: "counters equal the ledger",
    checkers: { settled: ({ settled }) => settled && countersEqualLedger(settled) },
  },
  {
    id: "I-11",
    promise: "monthly totals are sums, and no limit is exceeded",
    checkers: { stored: ofStored("I-11"), history: ofWholeHistory(monthLimits) },
  },
  { id: "I-12", promise: "what cannot be checked is refused", checkers: { history: ofHistory(failClosed) } },
  { id: "I-13", promise: "the service recovers within 5 s", checkers: { history: ofHistory(recovery) } },
  { id: "I-14", promise: "a revoked key is refused after 30 s", checkers: { history: ofHistory(revocation) } },
  { id: "I-15", promise: "secrets are written nowhere", checkers: { secrets: ({ secrets }) => secrets && noSecrets(secrets) } },
  {
    id: "I-16",
    promise: "no balance falls below zero by a charge",
    checkers: { stored: ofStored("I-16"), history: ofHistory(noDebt) },
  },
  {
    id: "I-17",
    promise: "a client that hangs up, or waits too often, pays for what was produced",
    checkers: { stored: ofStored("I-17"), history: ofHistory(both(disconnectIsCharged, unpaidIsBounded)) },
  },
  { id: "I-18", promise: "a call with an own key is charged 0", checkers: { history: ofHistory(ownKeysCostNothing) } },
  {
    id: "I-19",
    promise: "no credit is spent beside an own key without consent",
    checkers: { history: ofHistory(serviceKeyIsAllowed) },
  },
  {
    id: "I-20",
    promise: "no day or month passes its budget",
    checkers: { stored: ofStored("I-20"), history: ofWholeHistory(budgetsHold) },
  },
  { id: "I-21", promise: "each card payment is credited once", checkers: { history: ofHistory(creditedOnce) } },
  { id: "I-22", promise: "a block admits what was lent, while it lives", checkers: { history: ofHistory(blocksHold) } },
  {
    id: "I-23",
    promise: "one idempotency key is charged once",
    checkers: { stored: ofStored("I-23"), history: ofWholeHistory(oneCharge) },
  },
];

export interface Result extends Finding {
  id: string;
  promise: string;
  need: Need;
}

/** Checks all invariants that have evidence, in their order. */
export function checkAll(evidence: Evidence): Result[] {
  return invariants.flatMap(({ id, promise, checkers }) =>
    Object.entries(checkers).flatMap(([need, check]) => {
      const finding = check(evidence);
      return finding ? [{ id, promise, need: need as Need, checks: finding.checks, broken: finding.broken }] : [];
    }),
  );
}

/** One line for each broken invariant, with its first few violations. */
export function brokenLines(results: readonly Result[]): string[] {
  return results
    .filter(({ broken }) => broken.length > 0)
    .map(
      ({ id, promise, broken }) =>
        `${id} (${promise}): ${broken.slice(0, 3).join("; ")}${broken.length > 3 ? ` and ${broken.length - 3} more` : ""}`,
    );
}
