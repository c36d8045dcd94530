/** The counts of a run, which can be summed up over runs. */
import type { Called, HistoryEvent } from "../invariants/history.ts";
import type { Result } from "../invariants/invariants.ts";
import type { Run } from "./run.ts";

/** Counts by name. */
export type Tally = Record<string, number>;

export function tallyOf({ world, evidence }: Run, results: readonly Result[]): Tally {
  const history = evidence.history ?? [];
  const of = (is: (event: HistoryEvent) => boolean): number => history.filter(is).length;
  return {
    seeds: 1,
    faults: world.faults,
    "messages harmed": world.conditions.harmed,
    requests: of(({ kind }) => kind === "invoked"),
    admitted: of(({ kind }) => kind === "admitted"),
    "blocks lent": of(({ kind }) => kind === "lent"),
    "admitted with blocks": of((event) => event.kind === "admitted" && event.block !== undefined),
    charged: of((event) => event.kind === "charged" && event.outcome === "settled"),
    "charged late": of((event) => event.kind === "charged" && event.late),
    cut: of((event) => event.kind === "charged" && event.outcome === "settled" && event.cut),
    expired: of((event) => event.kind === "charged" && event.outcome === "expired"),
    "timed out": of(({ kind }) => kind === "timed out"),
    "charged timeouts": chargedTimeouts(history),
    unknown: of((event) => event.kind === "charged" && event.outcome === "unknown"),
    "on own keys": of((event) => event.kind === "charged" && event.ownKey !== undefined),
    embeddings: of((event) => event.kind === "charged" && event.endpoint === "embeddings"),
    messages: of((event) => event.kind === "charged" && event.endpoint === "messages"),
    responses: of((event) => event.kind === "charged" && event.endpoint === "responses"),
    "told costs": of((event) => event.kind === "answered" && event.told !== undefined),
    completions: of((event) => event.kind === "charged" && event.endpoint === "completions"),
    "other payers": changedOf(history, ({ ownKey }) => ownKey),
    "other models": changedOf(history, ({ provider }) => provider?.ofModel.join()),
    "keys in progress": of((event) => event.kind === "answered" && event.code === "idempotency_in_progress"),
    "keys spent": of((event) => event.kind === "answered" && event.code === "idempotency_spent"),
    "keys with another body": of((event) => event.kind === "answered" && event.code === "idempotency_mismatch"),
    restored: of(({ kind }) => kind === "restored"),
    "charges lost": history.reduce((sum, event) => sum + (event.kind === "restored" ? event.lost.length : 0), 0),
    "card payments": of(({ kind }) => kind === "paid"),
    "automatic payments": of((event) => event.kind === "paid" && event.automatic !== null),
    "declined cards": world.fleet.topUps?.declined ?? 0,
    "taken back": of((event) => event.kind === "credited" && event.payment === null),
    steps: world.scheduler.steps,
    ...Object.fromEntries(results.map(({ id, need, checks }) => [`${id} ${need}`, checks])),
  };
}

/** Those that time out and are charged more than was delivered. */
function chargedTimeouts(history: readonly HistoryEvent[]): number {
  const delivered = new Map(
    history.flatMap((event) => (event.kind === "timed out" ? [[event.generation, event.delivered]] : [])),
  );
  return history.filter((event) => event.kind === "charged" && event.cost > (delivered.get(event.generation) ?? event.cost))
    .length;
}

/** Generations that went on with another key, or another model, than the one that they began with. */
function changedOf(history: readonly HistoryEvent[], valueOf: (call: Called) => string | undefined): number {
  const values = new Map<string, Set<string | undefined>>();
  for (const event of history)
    if (event.kind === "called") values.set(event.generation, (values.get(event.generation) ?? new Set()).add(valueOf(event)));
  return [...values.values()].filter(({ size }) => size > 1).length;
}

export function addTally(total: Tally, more: Tally): Tally {
  for (const [name, count] of Object.entries(more)) total[name] = (total[name] ?? 0) + count;
  return total;
}
