/** Splits a batch of releases and pushes by workspace, into pieces that delay no admission for long. */
import type { AccountPush, BudgetPush, KeyMonthPush, Resolve, ResolveBatch } from "../counters.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { resolveBatchMax } from "../limits.ts";

/** The releases and pushes of one workspace. */
export interface ResolvePart {
  workspace: WorkspaceId;
  /** Each with its place in the batch. */
  resolve: [place: number, resolve: Resolve][];
  accounts: AccountPush[];
  keyMonths: KeyMonthPush[];
  budgets: BudgetPush[];
}

/** Admissions run between the rounds. One round holds all of a workspace unless that is too much for a round. */
export function resolveRounds(batch: ResolveBatch): Map<WorkspaceId, ResolvePart>[] {
  const rounds: Map<WorkspaceId, ResolvePart>[] = [];
  let room = 0;
  for (const whole of partsByWorkspace(batch)) {
    for (const part of pieces(whole)) {
      if (sizeOf(part) > room) {
        rounds.push(new Map());
        room = resolveBatchMax;
      }
      rounds.at(-1)?.set(part.workspace, part);
      room -= sizeOf(part);
    }
  }
  return rounds;
}

function sizeOf({ resolve, accounts, keyMonths, budgets }: ResolvePart): number {
  return resolve.length + accounts.length + keyMonths.length + budgets.length;
}

/** Pushes come first: until its hold is released a cost counts twice; it is never left out. */
function* pieces(whole: ResolvePart): Generator<ResolvePart> {
  const { workspace, resolve, accounts, keyMonths, budgets } = whole;
  if (sizeOf(whole) <= resolveBatchMax) return yield whole;
  for (let from = 0; from < sizeOf(whole); from += resolveBatchMax) {
    const some = <T>(list: T[], startsAt: number): T[] =>
      list.slice(Math.max(0, from - startsAt), Math.max(0, from + resolveBatchMax - startsAt));
    yield {
      workspace,
      accounts: some(accounts, 0),
      keyMonths: some(keyMonths, accounts.length),
      budgets: some(budgets, accounts.length + keyMonths.length),
      resolve: some(resolve, accounts.length + keyMonths.length + budgets.length),
    };
  }
}

function partsByWorkspace({ resolve, accounts, keyMonths, budgets = [] }: ResolveBatch): Iterable<ResolvePart> {
  const parts = new Map<WorkspaceId, ResolvePart>();
  const partOf = ({ workspace }: { workspace: WorkspaceId }): ResolvePart => {
    const known = parts.get(workspace);
    if (known) return known;
    const part: ResolvePart = { workspace, resolve: [], accounts: [], keyMonths: [], budgets: [] };
    parts.set(workspace, part);
    return part;
  };
  for (const [place, one] of resolve.entries()) partOf(one).resolve.push([place, one]);
  for (const push of accounts) partOf(push).accounts.push(push);
  for (const push of keyMonths) partOf(push).keyMonths.push(push);
  for (const push of budgets) partOf(push).budgets.push(push);
  return parts.values();
}
