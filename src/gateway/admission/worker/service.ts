/**
 * The worker's side of admission: replies to one message of requests at a time. It keeps only caches, so any worker can reply to any
 * message, and a repeated message does no harm. The requests of a message go to the counters in one call. What these lack is loaded while
 * the message waits, for a bounded time (loads.ts); then the rest is decided, or answered "again". A failure of one request affects only
 * its own reply. Blocks of credit and of a key's window are lent to gateways and taken back here. A refusal for credit or places that
 * blocks may hold is decided again after they are recalled. So a limit is never reached early because credit lies in a block. Workspaces
 * whose ledger may have gone back (ledger-check.ts), and all of them while metering lags (guards.ts), are refused.
 */
import type { Bus } from "../../../backing/bus.ts";
import {
  CountersUnavailableError,
  type AdmitBatch,
  type AdmitReply,
  type Counters,
  type LendRequest,
} from "../../../backing/counters.ts";
import { blockLifeMs } from "../../../backing/limits.ts";
import { dayOf, monthOf, withDeadline, type Clock, type Month } from "../../../kernel/clock.ts";
import type { GenerationId, WorkspaceId, KeyId } from "../../../kernel/ids.ts";
import type { Logger } from "../../../kernel/log.ts";
import { spanSince, traces, type TracedSpan } from "../../../kernel/traces.ts";
import { budgetsOf } from "../../credit/budgets.ts";
import { decodeOpenReport, encodeReportRequest } from "../../journal/open-report.ts";
import { recordLookupMs, countersTimeAgeMsMax, ownKeyReplyBytesMax, keyRecordAgeMsMax, blockRecallMs } from "../../limits.ts";
import { replyFor, prepare, type Prepared, type ModelsView } from "../decide.ts";
import { KeyRecordCache, type CachedRecord, type FindRecords } from "../key-cache.ts";
import {
  decodeRequests,
  encodeReplies,
  ownKeyBytes,
  recordOnBus,
  type AdmitGeneration,
  type AdmissionReply,
  type AdmissionRequest,
  type LendBlock,
  type Refused,
  type PositionRequest,
  type ReturnBlock,
} from "../message.ts";
import { CountersWatch, SpentKeys, type MeteringLagGuard } from "./guards.ts";
import { LedgerCheck } from "./ledger-check.ts";
import { SingleFlightLoads, refreshAccount, type LoadStore, loadRoundsMax, LoadDeadline, type Missing } from "./loads.ts";

interface AdmissionParts {
  bus: Bus;
  counters: Counters;
  store: LoadStore;
  findRecords: FindRecords;
  models: ModelsView;
  metering: Pick<MeteringLagGuard, "behind">;
  clock: Clock;
  log: Logger;
  /** How many keys are cached; absent: `recordsCachedMax`. */
  recordsMax?: number;
}

interface Pending {
  index: number;
  admit: AdmitGeneration;
  prepared: Prepared;
  /** Blocks were recalled for it. */
  isRecalled?: true;
  /** Another generation has its claim: it is refused as running, unless the ledger has that one meanwhile. */
  isClaimed?: true;
}

type OtherRequest = Extract<AdmissionRequest, { kind: "position" | "refresh" | "reload" | "lend" | "return" }>;

interface Release {
  index: number;
  workspace: WorkspaceId;
  generation: GenerationId;
}

export class AdmissionService {
  readonly keyRecords: KeyRecordCache;
  readonly #parts: AdmissionParts;
  readonly #loads: SingleFlightLoads;
  readonly #ledgerCheck: LedgerCheck;
  readonly #recalls: Recalls;
  readonly #countersWatch: CountersWatch;
  readonly #spentKeys: SpentKeys;
  /** The counters' clock minus this process's monotonic clock, from the last reply. */
  #clockOffset: number | null = null;
  #timeRecordedAt = -Infinity;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
    this.#loads = new SingleFlightLoads(parts);
    this.#ledgerCheck = new LedgerCheck(parts);
    this.#recalls = new Recalls(parts);
    this.#countersWatch = new CountersWatch(parts);
    this.#spentKeys = new SpentKeys(parts);
    this.keyRecords = new KeyRecordCache(parts.findRecords, parts.clock, parts.recordsMax);
  }

  /** Replies to a message from the bus. Rejects only if the bytes are not a message. */
  async reply(payload: Uint8Array): Promise<Uint8Array> {
    const startedAt = traces() && this.#parts.clock.monotonic();
    const { asks: requests } = decodeRequests(payload);
    const records = await this.#recordsOf(requests);
    const replies: AdmissionReply[] = requests.map(() => ({ kind: "refused", code: "internal_error" }));
    const admits: Pending[] = [];
    const releases: Release[] = [];
    const others: Promise<void>[] = [];
    const space = { bytes: ownKeyReplyBytesMax };
    for (const [index, request] of requests.entries()) {
      if (request.kind === "admit") {
        const prepared = this.#prepare(request, records[index]);
        if ("kind" in prepared) replies[index] = prepared;
        else admits.push({ index, admit: request, prepared });
      } else if (request.kind === "authenticate") replies[index] = this.#keyRecordReply(records[index], space);
      else if (request.kind === "void") releases.push({ index, workspace: request.workspace, generation: request.generation });
      else others.push(this.#replyToOne(request, records[index]).then((reply) => void (replies[index] = reply)));
    }
    await Promise.all([this.#admitAll(admits, replies), this.#releaseAll(releases, replies), ...others]);
    if (startedAt !== null) traceDecisions(requests, replies, spanSince(startedAt, this.#parts.clock));
    return encodeReplies({ now: await this.#countersTime(), answers: replies });
  }

  /** In the order of the requests; undefined: the database did not answer and no valid record is cached. */
  async #recordsOf(requests: AdmissionRequest[]): Promise<(CachedRecord | undefined)[]> {
    const records = requests.map((request) => ("hash" in request ? this.keyRecords.cached(request.hash) : undefined));
    const missing = requests.flatMap((request, index) => ("hash" in request && !records[index] ? [request.hash] : []));
    if (missing.length === 0) return records;
    try {
      const read = await this.keyRecords.get(missing);
      return requests.map((request, index) => records[index] ?? ("hash" in request ? read.get(request.hash) : undefined));
    } catch (error) {
      this.#parts.log.warn({ event: "records.unavailable", reason: String(error) }, "Key records cannot be read");
      return records;
    }
  }

  async #admitAll(admits: Pending[], replies: AdmissionReply[]): Promise<void> {
    const unusable = await this.#ledgerCheck.unusable(admits.map(({ prepared }) => prepared.request.workspace));
    let pending: Pending[] = [];
    for (const admit of admits) {
      if (unusable.has(admit.prepared.request.workspace)) replies[admit.index] = unavailable("billing_unavailable");
      else pending.push(admit);
    }
    const deadline = new LoadDeadline(this.#parts.clock);
    const endsAt = this.#parts.clock.monotonic() + recordLookupMs;
    for (let round = 0; round < loadRoundsMax; round++) {
      const look = { replies, endsAt, isFirst: round === 0 };
      if (pending.some(({ admit }) => admit.claim)) pending = await this.#withoutSpent(pending, look);
      if (pending.length === 0) return;
      const { undecided, loads } = await this.#admitOnce(pending, replies);
      pending = (await deadline.wait(loads)) ? undecided : [];
    }
  }

  /** In each round again: counters that were loaded meanwhile may have learned nothing of a generation that has ended. */
  async #withoutSpent(
    pending: Pending[],
    { replies, ...look }: { replies: AdmissionReply[]; endsAt: number; isFirst: boolean },
  ): Promise<Pending[]> {
    const asked = pending.map(({ admit: { claim }, prepared: { request } }) => ({ ...request, claim }));
    const refusals = await this.#spentKeys.refusals(asked, { ...look, nowMs: await this.#countersTime() });
    return pending.filter(({ index, isClaimed }, place) => {
      const refusal = refusals[place];
      if (refusal) replies[index] = refusal;
      return !refusal && !isClaimed;
    });
  }

  /** A failure affects only the reply to this request. */
  #prepare(request: AdmitGeneration, entry: CachedRecord | undefined): Prepared | Refused {
    if (!entry) return unavailable("auth_unavailable");
    try {
      const prepared = prepare(request, entry.record, this.#parts.models);
      if ("kind" in prepared) return prepared;
      return request.deadline === null || this.#parts.metering.behind() ? unavailable("billing_unavailable") : prepared;
    } catch (error) {
      this.#parts.log.error(
        { event: "admission.failed", model: request.model, reason: String(error) },
        "A request could not be priced",
      );
      return { kind: "refused", code: "internal_error" };
    }
  }

  /** Sets a reply for every request, at worst "again". Those in `undecided` may be decided once their counters are loaded. */
  async #admitOnce(pending: Pending[], replies: AdmissionReply[]): Promise<{ undecided: Pending[]; loads: Promise<boolean>[] }> {
    const at = this.#estimateCountersTime();
    const month = monthOf(at);
    const requests = pending.map(({ prepared }) => prepared.request);
    const counted = await this.#admitInCounters({ month, day: dayOf(at), requests });
    const undecided: Pending[] = [];
    const loads: Promise<boolean>[] = [];
    for (const [position, item] of pending.entries()) {
      const reply = counted?.[position];
      const { workspace, key, budgets = [] } = item.prepared.request;
      const recall = reply && !item.isRecalled ? recallFor(reply, { workspace, key }) : null;
      replies[item.index] = reply ? replyFor(item.prepared, item.admit, reply) : unavailable("billing_unavailable");
      if (recall !== null) {
        undecided.push({ ...item, isRecalled: true });
        loads.push(this.#recalls.run(recall));
      }
      if (reply?.outcome === "claimed") undecided.push({ ...item, isClaimed: true });
      if (reply?.outcome !== "not_ready" && reply?.outcome !== "wrong_month") continue;
      undecided.push(item);
      if (reply.outcome === "wrong_month") continue;
      if (reply.what !== "budget") loads.push(this.#loads.run({ what: reply.what, workspace, key, month }));
      // If the key's total is unknown, so usually are its budgets; loading both saves a round.
      const areBudgetsDue = budgets.length > 0 && reply.what !== "workspace";
      if (areBudgetsDue) loads.push(this.#loads.run({ what: "budget", workspace, budgets, at }));
    }
    return { undecided, loads };
  }

  /** null: the counters did not reply, and the outcome is unknown. */
  async #admitInCounters(batch: AdmitBatch): Promise<AdmitReply[] | null> {
    try {
      const { now, replies } = await this.#parts.counters.admitMany(batch);
      this.#recordCountersTime(now);
      if (replies.some(({ outcome }) => outcome === "unreachable")) this.#countersWatch.failed();
      return replies;
    } catch (error) {
      this.#countersWatch.failed();
      if (!(error instanceof CountersUnavailableError))
        this.#parts.log.error({ event: "admission.failed", reason: String(error) }, "Admissions could not be counted");
      return null;
    }
  }

  /** @param space left in the message for own keys: a record whose keys do not fit is for a later message, and others are not held up */
  #keyRecordReply(entry: CachedRecord | undefined, space: { bytes: number }): AdmissionReply {
    if (!entry) return unavailable("auth_unavailable");
    const bytes = entry.record ? ownKeyBytes(entry.record) : 0;
    if (bytes > space.bytes) return unavailable("auth_unavailable");
    space.bytes -= bytes;
    const ageMs = Math.ceil(this.#parts.clock.monotonic() - entry.readAt);
    return { kind: "record", ageMs, record: entry.record && recordOnBus(entry.record) };
  }

  async #releaseAll(releases: Release[], replies: AdmissionReply[]): Promise<void> {
    if (releases.length === 0) return;
    const resolve = releases.map(({ workspace, generation }) => ({ workspace, generation, as: "void" as const }));
    const batch = { resolve, accounts: [], keyMonths: [] };
    const reply = await this.#orUnavailable(() => this.#parts.counters.resolveMany(batch).then(() => done));
    for (const { index } of releases) replies[index] = reply;
  }

  #replyToOne(request: OtherRequest, record: CachedRecord | undefined): Promise<AdmissionReply> {
    const { counters } = this.#parts;
    return this.#orUnavailable(async () => {
      if (request.kind === "lend") return this.#lend(request, record);
      if (request.kind === "return") return takeBack(request, counters);
      if (request.kind === "reload") return counters.forget(request.workspace, 0n, request.admittedAt).then(() => done);
      if ((await this.#ledgerCheck.unusable([request.workspace])).size > 0) return unavailable("billing_unavailable");
      if (request.kind === "refresh") return this.#refresh(request.workspace);
      if (request.recall) await this.#recalls.run({ workspace: request.workspace, key: null });
      return readPosition(request, { ...this.#parts, loads: this.#loads });
    });
  }

  async #lend(request: LendBlock, entry: CachedRecord | undefined): Promise<AdmissionReply> {
    const { clock, metering, counters } = this.#parts;
    if (!entry || request.deadline === null || metering.behind()) return { kind: "kept" };
    const moment = { ageMs: clock.monotonic() - entry.readAt, month: monthOf(this.#estimateCountersTime()) };
    const wished = lendRequest(request, entry, moment);
    if (wished === null || (await this.#ledgerCheck.unusable([wished.workspace])).size > 0) return { kind: "kept" };
    this.#countersWatch.lent(wished.lifeMs);
    return lend(wished, counters);
  }

  /** Each request reads again: a running read may have begun before the credit was added. */
  async #refresh(workspace: string): Promise<AdmissionReply> {
    const refreshed = refreshAccount({ workspace, month: monthOf(this.#estimateCountersTime()) }, this.#parts);
    await withDeadline(this.#parts.clock, recordLookupMs, "Refreshing an account", refreshed);
    return done;
  }

  async #orUnavailable(makeReply: () => Promise<AdmissionReply>): Promise<AdmissionReply> {
    try {
      return await makeReply();
    } catch (error) {
      this.#parts.log.warn({ event: "admission.unavailable", reason: String(error) }, "A request to admission failed");
      return unavailable("billing_unavailable");
    }
  }

  #estimateCountersTime(): number {
    return this.#clockOffset === null ? this.#parts.clock.now() : this.#clockOffset + this.#parts.clock.monotonic();
  }

  /** The time from which gateways compute deadlines. It is read from the counters only if no recent reply carried it. */
  async #countersTime(): Promise<number | null> {
    if (this.#parts.clock.monotonic() - this.#timeRecordedAt < countersTimeAgeMsMax) return this.#estimateCountersTime();
    try {
      this.#recordCountersTime(await this.#parts.counters.now());
      return this.#estimateCountersTime();
    } catch {
      return null;
    }
  }

  #recordCountersTime(now: number): void {
    this.#timeRecordedAt = this.#parts.clock.monotonic();
    this.#clockOffset = now - this.#parts.clock.monotonic();
  }
}

/** A refusal has no trace, because its gateway names none. */
function traceDecisions(requests: AdmissionRequest[], replies: AdmissionReply[], span: TracedSpan): void {
  for (const [index, request] of requests.entries()) {
    if (request.kind !== "admit" || replies[index]?.kind !== "admitted") continue;
    traces()?.work({ generation: request.generation, work: "admission", outcome: "admitted", ...span });
  }
}

function unavailable(code: "auth_unavailable" | "billing_unavailable"): Refused {
  return { kind: "refused", code };
}

interface PositionParts {
  counters: Counters;
  clock: Clock;
  loads: SingleFlightLoads;
}

/**
 * Credit, holds and this month's spend, loaded first if the counters lack them; "again" if the load takes too long.
 * @throws CountersUnavailableError
 */
async function readPosition(
  { workspace, key, blocks = [] }: PositionRequest,
  { counters, clock, loads }: PositionParts,
): Promise<AdmissionReply> {
  const deadline = new LoadDeadline(clock);
  for (let round = 0; round < loadRoundsMax; round++) {
    const { account, keySpent, lent, now, blocks: held } = await counters.read(workspace, key, blocks);
    const month = monthOf(now);
    if (account !== null && (key === null || keySpent !== null)) {
      return {
        kind: "position",
        balance: account.balance.toString(),
        reserved: account.reserved.toString(),
        lent: lent.toString(),
        blocks: blocks.map((block) => (held.get(block) ?? 0n).toString()),
        keySpent: keySpent?.toString() ?? null,
        month,
      };
    }
    const missing: Missing =
      account === null || key === null ? { what: "workspace", workspace, month } : { what: "key", workspace, key, month };
    if (!(await deadline.wait([loads.run(missing)]))) break;
  }
  return { kind: "again" };
}

// Blocks (../block.ts says why nothing is overdrawn by them). They exist only far from every bound: a block is at most a fiftieth of the
// free amount, a key needs at least 600 requests a minute, and at most half of its window is used or lent. Keys with budgets or own
// provider keys get none: each of their requests is counted in its own way. A recall pauses lending for ten seconds; the gateways return
// the blocks of the key or the workspace, and the request is decided again after their answers, or after 300 ms.

const kept: AdmissionReply = { kind: "kept" };
const done: AdmissionReply = { kind: "done" };

/** @param ageMs of the record, which the block does not outlive. @returns null where nothing is lent to this key at all */
function lendRequest(
  { block, least, amount, places, deadline }: LendBlock,
  { record }: CachedRecord,
  { ageMs, month }: { ageMs: number; month: Month },
): LendRequest | null {
  // Budgets count each request in its own period, so a worker decides each.
  if (record === null || !record.enabled || record.requestsPerMinute === null || budgetsOf(record) !== null) return null;
  const lifeMs = Math.floor(Math.min(blockLifeMs, keyRecordAgeMsMax - ageMs));
  if (lifeMs <= 0) return null;
  const { workspace, id: key, requestsPerMinute, monthlyLimit: keyLimit, workspaceLimit } = record;
  const limits = { requestsPerMinute, keyLimit, workspaceLimit };
  const wished = { least: BigInt(least), amount: BigInt(amount), places };
  return { workspace, key, block, month, ...limits, ...wished, deadline, lifeMs };
}

/** @throws CountersUnavailableError: it may be lent */
async function lend(request: LendRequest, counters: Counters): Promise<AdmissionReply> {
  const reply = await counters.lend(request);
  if (reply.outcome === "kept") return kept;
  const { at, amount, places, lifeMs, window } = reply;
  const shown = { limit: request.requestsPerMinute, ...window };
  return { kind: "lent", at, month: request.month, amount: amount.toString(), places, lifeMs, window: shown };
}

/** @throws CountersUnavailableError */
async function takeBack(returned: ReturnBlock, counters: Counters): Promise<AdmissionReply> {
  const { workspace, key, block, keep } = returned;
  let time = 0;
  const times = returned.times.map((distance) => (time += distance));
  await counters.takeBack({ workspace, returns: [{ key, block, keep: BigInt(keep), times }] });
  return done;
}

interface RecallParts {
  bus: Pick<Bus, "survey">;
  counters: Pick<Counters, "takeBack">;
  log: Logger;
}

/** The owner of the recalled blocks; `key` null: the whole workspace. */
interface Recall {
  workspace: WorkspaceId;
  key: KeyId | null;
}

/** The blocks to recall before this refusal counts; null: none, or it is not a refusal. */
function recallFor(reply: AdmitReply, { workspace, key }: { workspace: WorkspaceId; key: KeyId }): Recall | null {
  if (!("isLent" in reply) || reply.isLent !== true) return null;
  const isOfKey = reply.outcome === "rate_limited" || reply.outcome === "key_spend_limit_exceeded";
  return { workspace, key: isOfKey ? key : null };
}

/**
 * Asks gateways for the blocks of a key or a workspace, because a request would be refused for what they hold. Lending pauses first, so
 * that after the recall nothing is lent near the limit.
 */
class Recalls {
  readonly #parts: RecallParts;
  readonly #running = new Map<string, Promise<true>>();

  constructor(parts: RecallParts) {
    this.#parts = parts;
  }

  /** One at a time of each key and workspace. Never rejects: the request is decided again in any case. */
  run(recall: Recall): Promise<true> {
    const name = `${recall.workspace} ${recall.key}`;
    const current = this.#running.get(name);
    if (current) return current;
    const running = this.#recall(recall)
      .catch((error: unknown) => {
        const facts = { event: "blocks.recall.failed", workspace: recall.workspace, reason: String(error) };
        this.#parts.log.warn(facts, "Not every gateway returned what it was lent");
      })
      .then(() => true as const)
      .finally(() => this.#running.delete(name));
    this.#running.set(name, running);
    return running;
  }

  async #recall({ workspace, key }: Recall): Promise<void> {
    const { bus, counters } = this.#parts;
    await counters.takeBack({ workspace, returns: [], pause: { key } });
    // A silent gateway's blocks stay held; the others still return theirs.
    const reports = await bus.survey("open-generations", encodeReportRequest({ workspace, recall: { key } }), blockRecallMs);
    const returns = reports.flatMap((report) => decodeOpenReport(report).blocks);
    if (returns.length > 0) await counters.takeBack({ workspace, returns });
  }
}
