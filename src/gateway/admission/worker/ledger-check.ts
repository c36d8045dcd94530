/**
 * Compares counters with their ledgers before they are used, since a database may go back in time: a standby is promoted without the last
 * commits, or an older backup is restored. Counters that are ahead would spend credit that the ledger no longer has. Each workspace is
 * compared on first use, every half minute, and again on each server. Counters that do not continue their ledger are forgotten, in a later
 * epoch, and loaded again: a version is an epoch and a number, so a late message from the time before the restoration changes nothing.
 * Until metering has booked again what the stream still has, such a workspace is refused. A failed comparison costs requests, never credit:
 * unproved counters are not used.
 */
import type { Bus } from "../../../backing/bus.ts";
import { type Counters, CountersUnavailableError, countableBalance } from "../../../backing/counters.ts";
import { raiseAlarm } from "../../../kernel/metrics.ts";
import { withDeadline, type Clock } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import type { Logger } from "../../../kernel/log.ts";
import type { NanoUsd } from "../../../kernel/money.ts";
import type { CountedPosition, LedgerPosition } from "../../credit/load.ts";
import { versionParts } from "../../credit/store.ts";
import {
  ledgerCheckMs,
  ledgerCheckBatchMs,
  recordLookupMs,
  recordsCachedMax,
  ledgerServerAnswerMs,
  ledgerServerMs,
} from "../../limits.ts";
import type { LoadStore } from "./loads.ts";

interface LedgerCheckParts {
  bus: Pick<Bus, "broadcast">;
  counters: Pick<Counters, "read" | "forget">;
  store: Pick<LoadStore, "positions" | "beginEpochs" | "server">;
  clock: Clock;
  log: Logger;
}

export class LedgerCheck {
  readonly #parts: LedgerCheckParts;
  readonly #watch: LedgerServerWatch;
  /** When each workspace was last found consistent, in monotonic milliseconds. */
  #checkedAt = new Map<WorkspaceId, number>();
  /** Running checks by workspace. Each resolves to the workspaces that must not be used. */
  readonly #checks = new Map<WorkspaceId, Promise<ReadonlySet<WorkspaceId>>>();
  /** No request waits for these: they are batched into one check. */
  #due = new Set<WorkspaceId>();

  constructor(parts: LedgerCheckParts) {
    this.#parts = parts;
    this.#watch = new LedgerServerWatch(parts, () => this.#forgetChecks());
  }

  /**
   * Waits for the check of workspaces that this process has not checked recently. Others are checked again in the background.
   * @returns workspaces that must not be used now: counters or database did not answer, or what their ledger lost is being booked again
   */
  async unusable(workspaces: Iterable<WorkspaceId>): Promise<ReadonlySet<WorkspaceId>> {
    await this.#watch.confirm();
    const now = this.#parts.clock.monotonic();
    const awaited = new Set<WorkspaceId>();
    for (const workspace of workspaces) {
      const ageMs = now - (this.#checkedAt.get(workspace) ?? -Infinity);
      if (ageMs >= 2 * ledgerCheckMs) awaited.add(workspace);
      else if (ageMs >= ledgerCheckMs) this.#checkSoon(workspace);
    }
    if (awaited.size === 0) return awaited;
    this.#begin([...awaited]);
    const checks = new Set([...awaited].map((workspace) => this.#checks.get(workspace)));
    const failed = await Promise.all(checks);
    return awaited.intersection(new Set(failed.flatMap((unusable) => [...(unusable ?? [])])));
  }

  #checkSoon(workspace: WorkspaceId): void {
    this.#due.add(workspace);
    if (this.#due.size > 1) return;
    this.#parts.clock.after(ledgerCheckBatchMs, () => {
      const due = [...this.#due];
      this.#due = new Set();
      this.#begin(due);
    });
  }

  /** Starts one check for all workspaces that no running check includes. */
  #begin(workspaces: readonly WorkspaceId[]): void {
    const fresh = workspaces.filter((workspace) => !this.#checks.has(workspace));
    if (fresh.length === 0) return;
    const check = this.#check(fresh);
    for (const workspace of fresh) this.#checks.set(workspace, check);
    void check.then(() => {
      for (const workspace of fresh) if (this.#checks.get(workspace) === check) this.#checks.delete(workspace);
    });
  }

  async #check(workspaces: readonly WorkspaceId[]): Promise<ReadonlySet<WorkspaceId>> {
    const { clock, log } = this.#parts;
    const at = clock.monotonic();
    const checkedAt = this.#checkedAt;
    try {
      const unusable = await withDeadline(
        clock,
        2 * recordLookupMs,
        "Comparing ledgers",
        compareLedgers(workspaces, this.#parts),
      );
      if (checkedAt.size >= recordsCachedMax) checkedAt.clear();
      for (const workspace of workspaces) {
        if (unusable.has(workspace)) checkedAt.delete(workspace);
        else checkedAt.set(workspace, at);
      }
      return unusable;
    } catch (error) {
      log.warn(
        { event: "ledger.unchecked", workspaces: workspaces.length, reason: String(error) },
        "Ledgers could not be checked",
      );
      return new Set(workspaces);
    }
  }

  /** Results from another server no longer count, nor do those of running checks. Gateways stop deciding with their blocks. */
  #forgetChecks(): void {
    this.#parts.bus.broadcast("records-changed");
    this.#checkedAt = new Map();
    this.#checks.clear();
  }
}

// The comparison

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

/** If another process begins an epoch at the same time, this one checks again. */
const roundsMax = 3;

/**
 * Forgets counters that do not continue their ledger. Counters are read first: commits reach the ledger before the counters, so the ledger is behind them only when it went back.
 * @returns the workspaces that must not be used yet
 * @throws Error when the database does not answer
 */
async function compareLedgers(workspaces: readonly WorkspaceId[], parts: CompareParts): Promise<ReadonlySet<WorkspaceId>> {
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

/** Its epoch has ended, on this worker or another one, and the counters are older or may have been used in between. */
function isStale({ counted: { version }, ledger }: Compared): boolean {
  if (ledger.comparedOn !== "this server" || version === null) return false;
  return ledger.isRebuilding || versionParts(version).epoch < versionParts(ledger.version).epoch;
}

/** Without counters nothing shows whether this server lost something until metering has checked. */
function isUnproved({ counted, ledger }: Compared): boolean {
  return counted.version === null && ledger.comparedOn === "other" && !ledger.isReplayed;
}

function continues({ counted, ledger }: Compared): boolean {
  return ledger.comparedOn === "this server" && !isAhead({ counted, ledger });
}

/** A workspace that was never compared keeps its epoch, so that processes of a version without epochs can settle at the same time. */
function isOver({ counted, ledger }: Compared): boolean {
  return ledger.comparedOn === "other" || isAhead({ counted, ledger });
}

/**
 * A restored backup may be older than its first comparison. Its ledger may since have reached the entries and balances of the counters, but
 * lack totals of budgets that the counters still use.
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
 * in between. Counters that are ahead are the only record of the loss until the database has noted it, so they are forgotten only after
 * that. If it is killed at any point, the next comparison continues, and metering forgets what is left before a ledger counts as rebuilt.
 * @returns the workspaces whose epoch this process ended
 */
async function endEpochs(ended: readonly Compared[], parts: CompareParts): Promise<Map<WorkspaceId, "rebuilding" | "ready">> {
  if (ended.length === 0) return new Map();
  const { store, log } = parts;
  await forgetAll(
    ended.filter((one) => mayBeOfAnother(one) && !isAhead(one)),
    parts,
  );
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

interface WatchParts {
  store: Pick<LoadStore, "server">;
  clock: Clock;
}

interface Asked {
  /** In monotonic milliseconds. */
  at: number;
  ended: Promise<void>;
}

/** Notices that another server keeps the ledger: a standby that was promoted, a restored backup, or the same one after a restart. */
class LedgerServerWatch {
  readonly #parts: WatchParts;
  readonly #onChange: () => void;
  #server: bigint | null = null;
  /** When the server last answered, in monotonic milliseconds. */
  #confirmedAt = -Infinity;
  /** null: no query is under way. */
  #asked: Asked | null = null;

  constructor(parts: WatchParts, onChange: () => void) {
    this.#parts = parts;
    this.#onChange = onChange;
  }

  /**
   * Asks which server it is, unless it answered recently. Never rejects: while the database does not answer, the last answer stays in use,
   * as keys do, and each caller asks again.
   */
  async confirm(): Promise<void> {
    const { clock } = this.#parts;
    const now = clock.monotonic();
    const ageMs = now - this.#confirmedAt;
    if (ageMs < ledgerServerMs) return;
    const asked = this.#ask();
    if (ageMs < 2 * ledgerServerMs) return;
    await withDeadline(clock, ledgerServerAnswerMs, "The ledger's server", this.#answerSince(now, asked)).catch(() => {});
  }

  /** An earlier query may have failed because the next server was not up yet, so it is asked again. */
  async #answerSince(time: number, asked: Asked): Promise<void> {
    await asked.ended;
    if (this.#confirmedAt < time && asked.at < time) await this.#ask().ended;
  }

  /** One query at a time. */
  #ask(): Asked {
    this.#asked ??= { at: this.#parts.clock.monotonic(), ended: this.#readServer().finally(() => (this.#asked = null)) };
    return this.#asked;
  }

  /** Never rejects. */
  async #readServer(): Promise<void> {
    const { store, clock } = this.#parts;
    const at = clock.monotonic();
    try {
      const server = await withDeadline(clock, ledgerServerAnswerMs, "The ledger's server", store.server());
      this.#confirmedAt = at;
      if (server === this.#server) return;
      const isFirst = this.#server === null;
      this.#server = server;
      if (!isFirst) this.#onChange();
    } catch {
      // The database is away: admission continues with known keys for half a minute.
    }
  }
}
