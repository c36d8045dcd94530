/** Clients' and provider's books against the ledger: what was lost, doubled, unmetered, or charged wrongly. */
import type { Episode } from "../faults/episode.ts";
import type { ClientCall } from "../load/client-call.ts";
import type { ProviderCall } from "../world/provider.ts";
import type { Evidence } from "./evidence.ts";
import type { StoredCharge } from "./stored.ts";
import type { Violation } from "./violation.ts";

/** Of the model in test/support/stub-catalog.ts: nano-USD for a token. */
const price = { prompt: 1_000n, completion: 2_000n };

export interface Money {
  admitted: number;
  charged: number;
  /** Ended in the ledger for nothing because the gateway that knew died: what the documents allow. */
  unknown: number;
  lost: Violation[];
  doubled: Violation[];
  unmetered: Violation[];
  wrong: Violation[];
}

export function checkMoney(evidence: Evidence): Money {
  const charges = new Map(evidence.stored.charges.map((charge) => [charge.generation, charge]));
  const calls = evidence.provider.filter(({ isProbe }) => !isProbe);
  const clients = new Map(evidence.clients.map((client) => [client.generation ?? "", client]));
  const views = calls.map((call): View => {
    const { generation } = call;
    return { call, charge: charges.get(generation) ?? null, client: clients.get(generation) ?? null };
  });
  const wholes = evidence.clients.filter(({ whole }) => whole);
  return {
    admitted: charges.size,
    charged: evidence.stored.charges.filter(({ cost }) => cost > 0n).length,
    unknown: evidence.stored.charges.filter(({ outcome }) => outcome !== "settled").length,
    lost: [...views.flatMap((view) => lost(view, evidence.episodes)), ...wholes.flatMap((client) => unpaid(client, charges))],
    doubled: doubled(evidence),
    unmetered: views.flatMap(({ call, charge }) =>
      charge === null ? violation("a provider call without a terminal record", call, call.state) : [],
    ),
    wrong: [...views.flatMap(wrongAmount), ...phantoms(evidence), ...lostTopUps(evidence)],
  };
}

interface View {
  call: ProviderCall;
  charge: StoredCharge | null;
  client: ClientCall | null;
}

/** Billed by the provider, and in the ledger for nothing, though no gateway died that had it in hand. */
function lost({ call, charge }: View, episodes: readonly Episode[]): Violation[] {
  if (call.billed === null || charge === null || charge.cost > 0n) return [];
  const { startedAt, endedAt } = call;
  const gatewayDied = episodes.some(
    ({ faults, inflictedAt, healedAt }) =>
      faults.some(endsGateway) && startedAt < healedAt && (endedAt ?? Infinity) > inflictedAt - 1_000,
  );
  if (gatewayDied && charge.outcome === "unknown") return [];
  return violation("billed and not charged", call, `${charge.outcome}, no gateway died: ${JSON.stringify(call.billed)}`);
}

function endsGateway(fault: Episode["faults"][number]): boolean {
  return (fault.kind === "kill" || fault.kind === "stop") && fault.who.startsWith("gateway");
}

/** A client that has the whole answer has been charged, whatever died. */
function unpaid({ generation, sentAt }: ClientCall, charges: Map<string, StoredCharge>): Violation[] {
  const charge = charges.get(generation ?? "");
  if (charge !== undefined && charge.outcome === "settled" && charge.cost > 0n) return [];
  const detail = charge === undefined ? "nothing in the ledger" : `${charge.outcome} for ${charge.cost}`;
  return [{ rule: "answered whole and not charged", generation, at: sentAt, detail }];
}

/** What the provider billed is what is charged, where the client got it whole. */
function wrongAmount({ call, charge, client }: View): Violation[] {
  if (call.billed === null || charge === null || client?.whole !== true) return [];
  const { promptTokens, completionTokens } = call.billed;
  const due = BigInt(promptTokens) * price.prompt + BigInt(completionTokens) * price.completion;
  return charge.cost === due ? [] : violation("charged another amount than was billed", call, `${charge.cost} for ${due}`);
}

function doubled({ stored: { entries, log } }: Evidence): Violation[] {
  const entered = repeated(entries.filter(({ kind }) => kind === "charge").map(({ reference }) => reference));
  const logged = repeated(log.map(({ generation }) => generation));
  const credited = repeated(
    entries.filter(({ kind }) => kind === "credit").map(({ workspace, reference }) => `${workspace} ${reference}`),
  );
  return [
    ...entered.map((generation) => ({ rule: "two ledger entries for one generation", generation, detail: "", at: null })),
    ...logged.map((generation) => ({ rule: "two log rows for one generation", generation, detail: "", at: null })),
    ...credited.map((detail) => ({ rule: "credit added twice", generation: null, detail, at: null })),
  ];
}

/** Charged although no provider was ever called for it. */
function phantoms({ stored: { charges }, provider }: Evidence): Violation[] {
  const called = new Set(provider.map(({ generation }) => generation));
  return charges
    .filter(({ generation, cost }) => cost > 0n && !called.has(generation))
    .map(({ generation, cost }) => ({ rule: "charged without a provider call", generation, detail: String(cost), at: null }));
}

function lostTopUps({ stored: { entries }, topUps }: Evidence): Violation[] {
  const present = new Set(entries.map(({ workspace, reference }) => `${workspace} ${reference}`));
  return topUps
    .map(({ workspace, reference }) => `${workspace} ${reference}`)
    .filter((name) => !present.has(name))
    .map((detail) => ({ rule: "credit that was confirmed and is not there", generation: null, detail, at: null }));
}

function violation(rule: string, { generation, startedAt }: ProviderCall, detail: string): Violation[] {
  return [{ rule, generation, detail, at: startedAt }];
}

function repeated(names: string[]): string[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > 1).map(([name]) => name);
}
