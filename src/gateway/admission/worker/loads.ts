/**
 * Loads a workspace's counters. First use, an emptied or restarted store and a lost slot all take this path. Only the gateways have the
 * generations in flight, only the ledger has the charges; both together give the holds. The ledger is read after the gateways were asked,
 * so a generation that ends in between is in one of the two.
 * One load of a kind runs at a time for each workspace, month, key or set of budgets, and callers share it; after a failure the next caller
 * starts over. A message waits for loads for a bounded time in all (`LoadDeadline`).
 */
import type { Bus } from "../../../backing/bus.ts";
import type {
  AccountPush,
  Budget,
  BudgetHold,
  BudgetPush,
  Counters,
  Hold,
  KeyMonthPush,
  WorkspaceLoad,
} from "../../../backing/counters.ts";
import { type Month, withDeadline, type Clock, sleep } from "../../../kernel/clock.ts";
import type { GenerationId, KeyId, WorkspaceId } from "../../../kernel/ids.ts";
import type { Logger } from "../../../kernel/log.ts";
import { budgetStart, isInPeriod } from "../../credit/budgets.ts";
import type { LoadedAccount, LoadedBudget, CountedPosition, LedgerPosition } from "../../credit/load.ts";
import type { EpochStart, SpentClaim } from "../../credit/store.ts";
import { decodeOpenReport, encodeReportRequest } from "../../journal/open-report.ts";
import { rebuildReportMs, rebuildWaitMs, loadDeadlineMs } from "../../limits.ts";

/** The part of the ledger that loading needs. Each method reads one snapshot. */
export interface LoadStore {
  /** Balance, sequence, totals, and those of `generations` that have ended in the ledger. null: no such workspace. */
  account(workspace: WorkspaceId, generations: GenerationId[]): Promise<LoadedAccount | null>;
  keyMonth(workspace: WorkspaceId, key: KeyId, month: Month): Promise<KeyMonthPush>;
  /** The totals of budgets, which the ledger keeps from then on. */
  budgets(workspace: WorkspaceId, totals: BudgetHold[]): Promise<BudgetPush[]>;
  /** The claims that generations have spent which were admitted after `since`, in milliseconds. */
  claims(claims: readonly string[], since: number): Promise<readonly SpentClaim[]>;
  /** The positions of ledgers compared with those of counters; unknown workspaces are absent. */
  positions(counted: readonly CountedPosition[]): Promise<ReadonlyMap<WorkspaceId, LedgerPosition>>;
  /** Begins epochs. @returns the workspaces where no other process began one meanwhile */
  beginEpochs(starts: readonly EpochStart[]): Promise<ReadonlySet<WorkspaceId>>;
  /** The number of the server that answers: it changes after a restart, a promotion or a restoration. */
  server(): Promise<bigint>;
}

export interface LoadParts {
  bus: Bus;
  counters: Counters;
  store: LoadStore;
}

interface WorkspaceMonth {
  workspace: WorkspaceId;
  /** The requested month: it is pushed as zero if nothing was charged in it yet. */
  month: Month;
}

/**
 * Writes a workspace's counters from the ledger and the gateways' reports. Does nothing if another worker was faster.
 * @throws Error when the counters were emptied or restarted during the load: load again; or when the ledger is not ready
 */
export async function loadWorkspace({ workspace, month }: WorkspaceMonth, parts: LoadParts): Promise<void> {
  const begun = await parts.counters.beginLoad(workspace);
  if (begun === null) return;
  const [answers, stored] = await Promise.all([
    parts.bus.scatter("open-generations", encodeReportRequest({ workspace }), rebuildReportMs),
    parts.counters.holds(workspace),
  ]);
  const reports = answers.map(decodeOpenReport);
  // Their requests are among the windows, and would count twice.
  const returns = reports.flatMap(({ blocks }) => blocks);
  if (returns.length > 0) await parts.counters.takeBack({ workspace, returns });
  const holds = new Map<GenerationId, Hold>();
  for (const hold of [...stored, ...reports.flatMap((report) => report.holds)]) holds.set(hold.generation, hold);
  const ledger = await readAccount({ workspace, generations: [...holds.keys()], stored }, parts.store);
  if (ledger === null) throw new Error(`Cannot load counters: there is no workspace "${workspace}"`);
  if (!ledger.isReady) throw new Error(`Cannot load counters: the ledger of "${workspace}" is behind what it had before`);
  const { budgets = [] } = ledger;
  // A generation that has ended meanwhile keeps its claim for a while: another worker may have looked for it in the ledger just before.
  const claims = reports
    .flatMap((report) => report.claims ?? [])
    .map((one) => (ledger.ended.has(one.generation) ? { ...one, hasEnded: true as const } : one));
  const load: WorkspaceLoad = {
    begun,
    account: withMonth(ledger.account, month),
    ...(budgets.length > 0 && { budgets: budgets.map(({ name, since, spent }) => ({ name, since, spent })) }),
    holds: [...holds.values()].filter((hold) => !ledger.ended.has(hold.generation)).map((hold) => withBudgets(hold, budgets)),
    windows: mergeWindows(reports.flatMap((report) => report.windows)),
    ...(claims.length > 0 && { claims }),
  };
  await parts.counters.load(load);
}

/** Pushes the total of a key's month with its version. */
export async function loadKeyMonth(at: { workspace: WorkspaceId; key: KeyId; month: Month }, parts: LoadParts): Promise<void> {
  const keyMonth = await parts.store.keyMonth(at.workspace, at.key, at.month);
  await parts.counters.resolveMany({ resolve: [], accounts: [], keyMonths: [keyMonth] });
}

/** Pushes the ledger's head and month totals with their version: after credit was added, and for a new month. */
export async function refreshAccount(
  { workspace, month }: WorkspaceMonth,
  { counters, store }: Pick<LoadParts, "counters" | "store">,
): Promise<void> {
  const ledger = await store.account(workspace, []);
  if (ledger === null) throw new Error(`Cannot refresh counters: there is no workspace "${workspace}"`);
  await counters.resolveMany({ resolve: [], accounts: [withMonth(ledger.account, month)], keyMonths: [] });
}

/** Data that counters may lack: a whole workspace, its total of a month, a key's total of a month, or totals of budgets at a time. */
export type Missing =
  | { what: "workspace" | "month"; workspace: WorkspaceId; month: Month }
  | { what: "key"; workspace: WorkspaceId; key: KeyId; month: Month }
  | { what: "budget"; workspace: WorkspaceId; budgets: readonly Budget[]; at: number };

/** Loads of counters, at most one at a time for each workspace, month, key or set of budgets. After a failure the next caller starts a new load. */
export class SingleFlightLoads {
  readonly #inFlight = new Map<string, Promise<boolean>>();
  readonly #parts: LoadParts & { clock: Clock; log: Logger };

  constructor(parts: LoadParts & { clock: Clock; log: Logger }) {
    this.#parts = parts;
  }

  /** Never rejects. @returns whether it is loaded */
  run(missing: Missing): Promise<boolean> {
    const name = nameOf(missing);
    const current = this.#inFlight.get(name);
    if (current) return current;
    const { clock, log } = this.#parts;
    const running = withDeadline(clock, rebuildWaitMs, `Loading ${name}`, load(missing, this.#parts))
      .then(() => true)
      .catch((error: unknown) => {
        log.warn({ event: "counters.load.failed", what: name, reason: String(error) }, "Counters could not be loaded");
        return false;
      })
      .finally(() => this.#inFlight.delete(name));
    this.#inFlight.set(name, running);
    return running;
  }
}

/** A new workspace may lack its counters, and after their load the key's month total: one load follows the other. */
export const loadRoundsMax = 3;

/** The total time that a message may wait for counters that are being loaded. */
export class LoadDeadline {
  readonly #clock: Clock;
  readonly #endsAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#endsAt = clock.monotonic() + loadDeadlineMs;
  }

  /** @returns whether a retry makes sense: false when the time ran out or nothing could be loaded */
  async wait(loads: Promise<boolean>[]): Promise<boolean> {
    if (loads.length === 0) return true;
    const leftMs = this.#endsAt - this.#clock.monotonic();
    if (leftMs <= 0) return false;
    const stop = new AbortController();
    const loaded = Promise.all(loads).then((all) => all.includes(true));
    const ended = await Promise.race([loaded, sleep(this.#clock, leftMs, stop.signal).then(() => false)]);
    stop.abort();
    return ended;
  }
}

interface AskedAccount {
  workspace: WorkspaceId;
  generations: GenerationId[];
  /** The holds that the counters still have. */
  stored: readonly Hold[];
}

/** A ledger that went back may lack totals of budgets that holds count against; these are rebuilt from the charges. */
async function readAccount({ workspace, generations, stored }: AskedAccount, store: LoadStore): Promise<LoadedAccount | null> {
  const ledger = await store.account(workspace, generations);
  if (ledger === null) return null;
  const isKept = ({ name, since }: BudgetHold): boolean => {
    return (ledger.budgets ?? []).some((kept) => kept.name === name && kept.since >= since);
  };
  const lost = stored.flatMap(({ budgets = [] }) => budgets).filter((total) => !isKept(total));
  if (lost.length === 0) return ledger;
  const totals = new Map(lost.map((total) => [`${total.name} ${total.since}`, { name: total.name, since: total.since }]));
  await store.budgets(workspace, [...totals.values()]);
  return await store.account(workspace, generations);
}

function load(missing: Missing, parts: LoadParts): Promise<void> {
  switch (missing.what) {
    case "workspace":
      return loadWorkspace(missing, parts);
    case "month":
      return refreshAccount(missing, parts);
    case "key":
      return loadKeyMonth(missing, parts);
    case "budget":
      return loadBudgets(missing, parts);
  }
}

/** Pushes the totals of a request's budgets for the periods that contain this time. */
async function loadBudgets(
  { workspace, budgets, at }: { workspace: WorkspaceId; budgets: readonly Budget[]; at: number },
  { counters, store }: Pick<LoadParts, "counters" | "store">,
): Promise<void> {
  const totals = budgets.map((budget) => ({ name: budget.name, since: budgetStart(budget, at) }));
  await counters.resolveMany({ resolve: [], accounts: [], keyMonths: [], budgets: await store.budgets(workspace, totals) });
}

function withMonth(account: AccountPush, month: Month): AccountPush {
  const known = account.months.some((total) => total.month === month);
  return known ? account : { ...account, months: [...account.months, { month, spent: 0n }] };
}

/** Gateways do not know which budgets a hold counts against: its key and the time of its admission show that. */
function withBudgets({ budgets: _stored, ...hold }: Hold, budgets: readonly LoadedBudget[]): Hold {
  const counting = budgets.filter(
    (budget) => isInPeriod(budget, hold.admittedAt) && (budget.callers === null || budget.callers.includes(hold.key)),
  );
  return counting.length === 0 ? hold : { ...hold, budgets: counting.map(({ name, since }) => ({ name, since })) };
}

/** Several gateways may report the same key: all their admissions count. */
function mergeWindows(windows: WorkspaceLoad["windows"]): WorkspaceLoad["windows"] {
  const times = new Map<KeyId, number[]>();
  for (const window of windows) times.set(window.key, [...(times.get(window.key) ?? []), ...window.times]);
  return [...times].map(([key, list]) => ({ key, times: list.toSorted((a, b) => a - b) }));
}

function nameOf(missing: Missing): string {
  const { what, workspace } = missing;
  switch (what) {
    case "workspace":
      return `workspace ${workspace}`;
    case "month":
      return `month ${workspace} ${missing.month}`;
    case "key":
      return `key ${missing.key} ${missing.month}`;
    case "budget":
      return `budgets ${workspace} ${missing.budgets.map(({ name }) => name).join(" ")}`;
  }
}
