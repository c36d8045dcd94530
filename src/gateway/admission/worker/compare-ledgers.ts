/** Whether workspaces' counters continue their ledgers. Those that do not are forgotten, in a later epoch, and loaded again. */
import { CountersUnavailableError, type Counters } from "../../../backing/counters.ts";
import { countableBalance } from "../../../backing/credit-bound.ts";
import { raiseAlarm } from "../../../kernel/alarm.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import type { Logger } from "../../../kernel/log.ts";
import type { NanoUsd } from "../../../kernel/money.ts";
import { versionParts } from "../../credit/ledger-version.ts";
import type { CountedPosition, LedgerPosition } from "../../credit/positions.ts";
import type { LoadStore } from "./load.ts";

interface CompareParts {
  counters: Pick<Counters, "read" | "forget">;
  store: Pick<LoadStore, "positions" | "beginEpochs">;
  log: Logger;
}

interface Counted extends CountedPosition {
  balance: NanoUsd;
}

interface Compared {
  counted: Counted;
  ledger: LedgerPosition;
}

/** Another process that begins an epoch at the same time makes this one look again. */
const roundsMax = 3;

/**
 * Counters are read first: commits reach the ledger before the counters, so the ledger is behind them only when it went back.
 * @returns the workspaces that must not be used yet
 * @throws Error when the database does not answer
 */
export async function compareLedgers(workspaces: readonly WorkspaceId[], parts: CompareParts): Promise<ReadonlySet<WorkspaceId>> {
  const unusable = new Set<WorkspaceId>();
  let open = workspaces;
  for (let round = 0; round < roundsMax && open.length > 0; round++) {
    const compared = await compare(open, parts, unusable);
    const stale = compared.filter(isStale);
    const unproved = compared.filter(isUnproved);
    const ended = compared.filter((one) => !stale.includes(one) && !unproved.includes(one) && !continues(one));
    await forgetAll(stale, parts);
    const begun = await endEpochs(ended, parts);
    for (const one of compared) {
      const { workspace } = one.counted;
      const mustWait = one.ledger.isRebuilding || unproved.includes(one) || begun.get(workspace) === "rebuilding";
      if (mustWait) unusable.add(workspace);
    }
    open = ended.flatMap(({ counted: { workspace } }) => (begun.has(workspace) ? [] : [workspace]));
  }
  return unusable.union(new Set(open));
}

/** @param unread gets the workspaces whose part of the counters does not answer, which delay no others */
async function compare(
  workspaces: readonly WorkspaceId[],
  { counters, store }: CompareParts,
  unread: Set<WorkspaceId>,
): Promise<Compared[]> {
  const counted: Counted[] = [];
  const read = async (workspace: WorkspaceId): Promise<void> => {
    try {
      const { account } = await counters.read(workspace, null);
      counted.push({ workspace, version: account?.sequence ?? null, balance: account?.balance ?? 0n });
    } catch (error) {
      if (!(error instanceof CountersUnavailableError)) throw error;
      unread.add(workspace);
    }
  };
  await Promise.all(workspaces.map(read));
  if (counted.length === 0) return [];
  const ledgers = await store.positions(counted);
  return counted.flatMap((one) => {
    const ledger = ledgers.get(one.workspace);
    return ledger ? [{ counted: one, ledger }] : [];
  });
}

/** Its epoch ended, on this worker or another one, and the counters are of before; or they may have been used in between. */
function isStale({ counted: { version }, ledger }: Compared): boolean {
  if (ledger.comparedOn !== "this server" || version === null) return false;
  return ledger.isRebuilding || versionParts(version).epoch < versionParts(ledger.version).epoch;
}

/** Without counters nothing shows whether this server lost something, until metering has looked. */
function isUnproved({ counted, ledger }: Compared): boolean {
  return counted.version === null && ledger.comparedOn === "other" && !ledger.isReplayed;
}

function continues({ counted, ledger }: Compared): boolean {
  return ledger.comparedOn === "this server" && !isAhead({ counted, ledger });
}

/** A workspace that was never compared keeps its epoch, so that processes of a version without epochs can settle beside this one. */
function isOver({ counted, ledger }: Compared): boolean {
  return ledger.comparedOn === "other" || isAhead({ counted, ledger });
}

/**
 * A restored backup may be of before its first comparison. Its ledger may since have reached the entries and balances of the counters, but
 * lack totals of budgets that these go on counting with.
 */
function mayBeOfAnother(one: Compared): boolean {
  return isOver(one) || one.counted.version !== null;
}

/** The counters have an entry that the ledger does not have, or has with other content. */
function isAhead({ counted: { version, balance }, ledger }: Compared): boolean {
  if (version === null || versionParts(version).epoch < versionParts(ledger.version).epoch) return false;
  return ledger.balanceThen === null || countableBalance(ledger.balanceThen) !== balance;
}

/**
 * Forgets counters before the epoch ends, so that nothing is loaded from a ledger that was not compared, and after it, for what was loaded
 * in between. Killed at any point, the next comparison goes on.
 * @returns the workspaces whose epoch this process ended
 */
async function endEpochs(ended: readonly Compared[], parts: CompareParts): Promise<Map<WorkspaceId, "rebuilding" | "ready">> {
  if (ended.length === 0) return new Map();
  const { store, log } = parts;
  await forgetAll(ended.filter(mayBeOfAnother), parts);
  const begun = await store.beginEpochs(
    ended.map(({ counted, ledger }) => {
      const after = versionParts(ledger.version).epoch;
      const known = counted.version === null ? after : versionParts(counted.version).epoch;
      const last = known > after ? known : after;
      const epoch = isOver({ counted, ledger }) ? last + 1n : after;
      return { workspace: counted.workspace, after, epoch, isRebuilding: isAhead({ counted, ledger }) };
    }),
  );
  const own = ended.filter(({ counted }) => begun.has(counted.workspace));
  await forgetAll(own.filter(mayBeOfAnother), parts);
  for (const one of own.filter(isAhead)) tellWentBack(one, log);
  return new Map(own.map((one) => [one.counted.workspace, isAhead(one) ? "rebuilding" : "ready"]));
}

async function forgetAll(compared: readonly Compared[], { counters }: CompareParts): Promise<void> {
  await Promise.all(compared.map(({ counted: { workspace, version } }) => counters.forget(workspace, version ?? 0n)));
}

function tellWentBack({ counted, ledger }: Compared, log: Logger): void {
  const { number: ledgerSequence } = versionParts(ledger.version);
  const { number: countersSequence } = versionParts(counted.version ?? 0n);
  const facts = {
    workspace: counted.workspace,
    counters: countersSequence.toString(),
    ledger: ledgerSequence.toString(),
  };
  const message =
    "A ledger went back in time: its workspace is refused until metering has booked again what the stream of settlements has; " +
    "credit, keys and settings that were changed since are lost";
  raiseAlarm(log, "ledger.went_back", facts, message);
}
