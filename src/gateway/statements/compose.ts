/**
 * Makes a statement from a slice of the ledger. It adds up by construction and is checked all the same: lines that do not sum to the
 * entries are a contradiction, and nothing closes. Charges whose rows retention has deleted, and those beyond the bound, are one line
 * without names.
 */
import type { Transaction } from "../../backing/backing.ts";
import { isoTime, monthBounds } from "../../kernel/clock.ts";
import { isMemberCaller, type KeyId } from "../../kernel/ids.ts";
import { formatUsd } from "../../kernel/money.ts";
import type { Caller } from "../../accounts/keys/store.ts";
import { findCallers } from "../generations/generations.ts";
import { statementLinesMax, statementMovementsMax } from "../limits.ts";
import type { Line, Movement, StatementDocument } from "./schema.ts";
import { partiesOf } from "./parties.ts";
import * as store from "./slice-store.ts";
import type { StatementSums } from "./store.ts";

/** The rows of charges contradict the ledger's entries: `ledger verify` names them. */
export class ContradictionError extends Error {
  override name = "ContradictionError";
}

interface Composed {
  document: StatementDocument;
  sums: StatementSums;
}

interface Composing {
  slice: store.Slice;
  workspaceName: string;
  nowMs: number;
}

/** @throws ContradictionError */
export async function composeStatement({ slice, workspaceName, nowMs }: Composing, tx: Transaction): Promise<Composed> {
  const { workspace, month, from, to } = slice;
  const { startMs, endMs } = monthBounds(month);
  const sums = await sumSlice(slice, tx);
  const lines = await linesThatAddUp(slice, sums, tx);
  const total = (part: "ofPrevious" | "ofNext"): string => formatUsd(lines.reduce((sum, line) => sum + line[part], 0n));
  const ownKeyUse = await store.selectOwnKeyUse(slice, tx);
  const document = {
    number: month,
    ...(await partiesOf({ workspace, month, charges: sums.charges }, tx)),
    workspace: { id: workspace, name: workspaceName },
    period: { from: isoTime(startMs), to: isoTime(endMs) },
    closed_at: isoTime(nowMs),
    ledger: { from_seq: Number(from), to_seq: Number(to) },
    opening_balance_usd: formatUsd(sums.opening),
    credits: await movements(slice, { areCredits: true, sum: sums.credits }, tx),
    refunds: await movements(slice, { areCredits: false, sum: sums.refunds }, tx),
    charges_usd: formatUsd(sums.charges),
    closing_balance_usd: formatUsd(sums.closing),
    lines: await viewLines(lines, tx),
    of_previous_month_usd: total("ofPrevious"),
    of_next_month_usd: total("ofNext"),
    own_key: ownKeyUse.map(({ provider, model, requests, listCost }) => ({
      provider,
      model,
      requests: Number(requests),
      list_cost_usd: formatUsd(listCost),
    })),
  };
  return { document, sums: { number: month, ...sums } };
}

/** The part of a slice that the ledger alone gives. */
export async function sumSlice(slice: store.Slice, tx: Transaction): Promise<store.SliceSums & Omit<StatementSums, "number">> {
  const opening = await store.selectSliceBalance(slice.workspace, slice.from - 1n, tx);
  const sums = await store.selectSliceSums(slice, tx);
  const closing = await store.selectSliceBalance(slice.workspace, slice.to, tx);
  if (opening + sums.credits - sums.refunds - sums.charges !== closing)
    throw new ContradictionError(`The entries ${slice.from} to ${slice.to} do not add up to their last balance`);
  return { ...sums, opening, closing };
}

/** The requests of some callers, without a proof against the ledger, which does not know callers. */
export async function linesOf(slice: store.Slice, keys: KeyId[], tx: Transaction): Promise<Line[]> {
  if (slice.to < slice.from || keys.length === 0) return [];
  const { lastAt } = await store.selectSliceSums(slice, tx);
  return viewLines(await store.selectLines({ slice, keys, untilMs: untilOf(lastAt), linesMax: statementLinesMax }, tx), tx);
}

function untilOf(lastAt: Date | null): number {
  return lastAt?.getTime() ?? 0;
}

/**
 * Nearly all charges of a slice began in its month or in the one before. All months are searched only if those do not add up to the
 * entries.
 */
async function linesThatAddUp(slice: store.Slice, sums: store.SliceSums, tx: Transaction): Promise<store.LineRow[]> {
  if (slice.to < slice.from) return [];
  let missing = { requests: sums.requests, cost: sums.charges };
  for (const untilMs of [untilOf(sums.lastAt), null]) {
    const lines = await store.selectLines({ slice, keys: null, untilMs, linesMax: statementLinesMax }, tx);
    missing = {
      requests: lines.reduce((left, { requests }) => left - requests, sums.requests),
      cost: lines.reduce((left, { cost }) => left - cost, sums.charges),
    };
    if (missing.requests === 0n && missing.cost === 0n) return lines;
    if (
      untilMs === null &&
      missing.requests >= 0n &&
      missing.cost >= 0n &&
      slice.from <= (await store.selectRetainedTo(slice.workspace, tx))
    )
      return withRest(lines, missing);
  }
  const difference = `${missing.requests} requests and ${formatUsd(missing.cost)} USD`;
  throw new ContradictionError(`The charges of the entries ${slice.from} to ${slice.to} lack ${difference}`);
}

/** Adds what retention has deleted: their tokens are not known by entry. */
function withRest(lines: store.LineRow[], { requests, cost }: Pick<store.LineRow, "requests" | "cost">): store.LineRow[] {
  const isRest = ({ model }: store.LineRow): boolean => model === null;
  const rest = lines.find(isRest) ?? emptyRest;
  return [...lines.filter((line) => !isRest(line)), { ...rest, requests: rest.requests + requests, cost: rest.cost + cost }];
}

const emptyRest: store.LineRow = {
  key: null,
  model: null,
  provider: null,
  endpoint: null,
  tierAboveTokens: null,
  requests: 0n,
  promptTokens: 0n,
  cachedTokens: 0n,
  cacheWriteTokens: 0n,
  completionTokens: 0n,
  cost: 0n,
  ofPrevious: 0n,
  ofNext: 0n,
};

/** The first ones, and the sum of all others. */
async function movements(
  slice: store.Slice,
  { areCredits, sum }: { areCredits: boolean; sum: bigint },
  tx: Transaction,
): Promise<Movement[]> {
  const rows = await store.selectMovements(slice, { areCredits, limit: statementMovementsMax }, tx);
  const rest = rows.reduce((left, { amount }) => left - amount, sum);
  const listed = rows.map(({ at, kind, reference, amount }) => ({
    at: isoTime(at.getTime()),
    kind,
    ref: reference,
    usd: formatUsd(amount),
  }));
  const last = listed.at(-1);
  return rest === 0n || last === undefined ? listed : [...listed, { at: last.at, kind: null, ref: null, usd: formatUsd(rest) }];
}

async function viewLines(rows: store.LineRow[], tx: Transaction): Promise<Line[]> {
  const keys = rows.flatMap(({ key }) => (key === null ? [] : [{ key }]));
  const callers = await findCallers(keys, tx);
  return rows.map((row) => viewLine(row, row.key === null ? undefined : callers.get(row.key)));
}

function viewLine({ key, ...row }: store.LineRow, caller: Caller | undefined): Line {
  const isWorkbench = key !== null && isMemberCaller(key);
  return {
    key_id: isWorkbench ? null : key,
    key_name: isWorkbench ? "Workbench" : (caller?.keyName ?? null),
    member: caller?.email ?? null,
    model: row.model,
    provider: row.provider,
    endpoint: row.endpoint,
    tier_above_tokens: row.tierAboveTokens,
    requests: Number(row.requests),
    prompt_tokens: Number(row.promptTokens),
    cached_tokens: Number(row.cachedTokens),
    cache_write_tokens: Number(row.cacheWriteTokens),
    completion_tokens: Number(row.completionTokens),
    cost_usd: formatUsd(row.cost),
  };
}
