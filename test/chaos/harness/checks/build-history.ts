/** Builds the history of a run of real processes from the clients' notes, the provider's log and the rows of the database. */
import { monthOf } from "../../../../src/kernel/clock.ts";
import { parseUsd } from "../../../../src/kernel/money.ts";
import type { History, HistoryEvent } from "../../../invariants/history.ts";
import { inOrder } from "../../../invariants/in-order.ts";
import { closesAdmission, describeFault, gatewayStillMs } from "../faults/fault.ts";
import type { ClientCall } from "../load/client-call.ts";
import { ownKeyOf, type Customer } from "../load/customers.ts";
import { costOf, type ProviderCall } from "../world/provider.ts";
import type { CardNotes, RunNotes } from "./notes.ts";
import type { Stored } from "./stored.ts";

/** A decision from just before a fault may still reach its gateway within this time. */
const closesAfterMs = 500;
/** How long the end of an answer may be in transit. A client that hangs up meanwhile is charged for what was sent to it. */
const inTransitMs = 500;

export function buildHistory(notes: RunNotes, stored: Stored): History {
  const { customers, startedAt, clients, provider, episodes, revoked, blocks, quiet } = notes;
  const calledAt = new Map(provider.toReversed().map((call) => [call.generation, call.startedAt]));
  const invocations = new Map(clients.map(({ generation }, index) => [generation, String(index)]));
  const claims = claimsOf(notes);
  const leaving = Map.groupBy(
    clients.filter(({ hungUp }) => hungUp),
    ({ number }) => number,
  );
  const events: HistoryEvent[] = [
    ...customers.flatMap((customer) => settingsOf(customer, startedAt)),
    ...clients.flatMap(clientEvents),
    ...customers.map((customer) => ownKeysOf(customer, startedAt)),
    ...provider.flatMap((made) =>
      made.call === null ? [] : providerEvents(made, { customers, leftAt: leftAt(made, leaving.get(made.call)) }),
    ),
    ...storedEvents(stored, { invocations, blocks, calledAt, claims }),
    ...(notes.cards === null ? [] : cardEvents(notes.cards, quiet.at)),
    ...revoked.map((event): HistoryEvent => ({ kind: "revoked", ...event })),
    ...episodes.flatMap(episodeEvents),
    { kind: "quiet", ...quiet },
  ];
  return inOrder(events);
}

function settingsOf({ workspace, keys, requestsPerMinute, keyLimit, budgets }: Customer, at: number): HistoryEvent[] {
  const ofKeys = keys.flatMap(({ id: key }): HistoryEvent[] => [
    { kind: "rate", at, key, requestsPerMinute },
    ...(keyLimit === null ? [] : [{ kind: "spend limit", at, workspace, key, limit: keyLimit } as const]),
    ...(budgets === null
      ? []
      : [{ kind: "budget", at, workspace, name: `day:${key}`, keys: [key], limit: parseUsd(budgets.keyDay) } as const]),
  ]);
  if (budgets === null) return ofKeys;
  const { day, memberMonth } = budgets;
  return [
    ...ofKeys,
    { kind: "budget", at, workspace, name: "day:", keys: null, limit: day === null ? null : parseUsd(day) },
    {
      kind: "budget",
      at,
      workspace,
      name: "month:owner",
      keys: keys.map(({ id }) => id),
      limit: memberMonth === null ? null : parseUsd(memberMonth),
    },
  ];
}

function clientEvents(call: ClientCall, index: number): HistoryEvent[] {
  const { workspace, key, sentAt, endedAt, status, code, generation, whole, idempotencyKey } = call;
  const invocation = String(index);
  const keyed = idempotencyKey === null ? {} : { isKeyed: true as const };
  const invoked: HistoryEvent = { kind: "invoked", at: sentAt, invocation, workspace, key, ...keyed };
  const at = endedAt ?? sentAt;
  if (status === 0) return [invoked, { kind: "info", at, invocation }];
  return [invoked, { kind: "answered", at, invocation, status, code, generation, whole }];
}

function ownKeysOf({ workspace, own }: Customer, at: number): HistoryEvent {
  const keys = own === null ? [] : [{ id: own.id, provider: "stub" }];
  return { kind: "own keys", at, workspace, keys, fallback: own?.fallback ?? false };
}

/** The idempotency key of each generation that called a provider, by the number that its request carried there. */
export function claimsOf({ clients, provider }: Pick<RunNotes, "clients" | "provider">): Map<string, string> {
  const keys = new Map(
    clients.flatMap(({ number, idempotencyKey }) => (idempotencyKey === null ? [] : [[number, idempotencyKey]])),
  );
  return new Map(
    provider.flatMap(({ generation, call }) => {
      const key = call === null ? undefined : keys.get(call);
      return key === undefined ? [] : [[generation, key] as const];
    }),
  );
}

/** When a client hung up whose request may have made this call; undefined: none did. */
function leftAt({ startedAt }: ProviderCall, hungUp: readonly ClientCall[] = []): number | undefined {
  const left = hungUp.filter(({ sentAt }) => sentAt <= startedAt);
  return left.length === 0 ? undefined : Math.min(...left.map(({ endedAt }) => endedAt ?? Infinity));
}

interface Callers {
  customers: readonly Customer[];
  /** When its client hung up; undefined: it did not. */
  leftAt: number | undefined;
}

function providerEvents(call: ProviderCall, { customers, leftAt }: Callers): HistoryEvent[] {
  const { generation, startedAt, endedAt, key } = call;
  const owner = customers.find(({ workspace }) => key.startsWith(ownKeyOf(workspace)));
  const ownKey = owner?.own ? { ownKey: owner.own.id } : {};
  const provider = { id: call.provider, ofModel: call.model === "stub-pair" ? ["stub", "spare"] : ["stub"] };
  const called: HistoryEvent = { kind: "called", at: startedAt, generation, provider, ...ownKey };
  const cost = costOf(call);
  if (cost === null) return [called];
  const at = endedAt ?? startedAt;
  const isPartial = leftAt !== undefined && leftAt <= at + inTransitMs;
  const how = { ...(isPartial && { isPartial }), ...(owner && { isOnOwnKey: true as const }) };
  return [called, { kind: "served", at, generation, cost, ...how }];
}

interface Known {
  invocations: ReadonlyMap<string | null, string>;
  blocks: ReadonlyMap<string, string>;
  /** The first call of a provider. */
  calledAt: ReadonlyMap<string, number>;
  claims: ReadonlyMap<string, string>;
}

function storedEvents({ charges, entries }: Stored, { invocations, blocks, calledAt, claims }: Known): HistoryEvent[] {
  const credits = entries.filter(({ kind }) => kind === "credit");
  return [
    ...credits.map(({ workspace, amount, reference, at }): HistoryEvent => {
      const payment = /^stripe:(.+)$/.exec(reference ?? "")?.[1];
      return { kind: "credited", at, workspace, amount, ...(payment !== undefined && { payment }) };
    }),
    ...charges.flatMap((row): HistoryEvent[] => {
      const { generation, workspace, key, month, outcome, reserved, cost, excess, late, cut, at, admittedAt } = row;
      const own = row.ownKey === null ? {} : { ownKey: { id: row.ownKey, listCost: row.listCost ?? 0n } };
      const invocation = invocations.get(generation) ?? null;
      const whose = { generation, workspace, key, month };
      const block = blocks.get(generation);
      // A gateway with a block knows the time of its decision a little late.
      const decidedAt = Math.min(admittedAt, calledAt.get(generation) ?? Infinity);
      const claim = claims.get(generation);
      const rare = { ...(block !== undefined && { block }), ...(claim !== undefined && { claim }) };
      const decided = { amount: reserved, admittedAt, invocation, ...rare };
      const ended = { outcome, reserved, cost, excess, late, cut, ...own, ...(row.isSpent && { hasLeft: true as const }) };
      return [
        { kind: "admitted", at: decidedAt, ...whose, ...decided },
        { kind: "charged", at, ...whose, admittedAt, ...ended },
      ];
    }),
  ];
}

function cardEvents({ workspace, monthlyCap: cap, paid }: CardNotes, endsAt: number): HistoryEvent[] {
  const payments = paid.map(({ at, payment, amount, isAutomatic }): HistoryEvent => {
    return { kind: "paid", at, workspace, payment, amount, automatic: isAutomatic ? { month: monthOf(at), cap } : null };
  });
  const amount = paid.reduce((sum, one) => sum + one.amount, 0n);
  return [...payments, { kind: "kept", at: endsAt, workspace, amount }];
}

/** Only faults during which nothing can be admitted become fault events. */
function episodeEvents({ faults, injectedAt, healedAt }: RunNotes["episodes"][number]): HistoryEvent[] {
  const closing = faults.filter(closesAdmission);
  const stoodStillMs = Math.max(0, ...faults.map(gatewayStillMs));
  return [
    ...closing.flatMap((fault): HistoryEvent[] => {
      const name = `${describeFault(fault)} at ${injectedAt}`;
      const endsAt = "ms" in fault ? Math.min(healedAt, injectedAt + fault.ms) : healedAt;
      return [
        { kind: "fault", at: injectedAt, name, phase: "begins", closesAfterMs },
        { kind: "fault", at: endsAt, name, phase: "ends" },
      ];
    }),
    { kind: "healed", at: healedAt, ...(stoodStillMs > 0 && { stoodStillMs }) },
  ];
}
