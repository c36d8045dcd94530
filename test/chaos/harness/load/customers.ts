/** The customers that send requests: some with plenty of everything, some at the edge of their credit, window or limit, some whose keys are revoked. */
import { parseUsd } from "../../../../src/kernel/money.ts";
import { until } from "../../../support/until.ts";
import { Control } from "../world/control.ts";
import { ownKeyStart } from "../world/provider.ts";
import { embeddingsModel, model, pairedModel, type Testbed } from "../world/testbed.ts";

export interface Budgets {
  keyDay: string;
  day: string | null;
  memberMonth: string | null;
}

export interface Customer {
  workspace: string;
  keys: { id: string; key: string }[];
  /** plenty: refusing its requests is a failure of the service. The others are named after what they run out of. */
  kind: "plenty" | "credit" | "window" | "limit" | "budget" | "revoked" | "own" | "own-or-credit" | "card";
  requestsPerMinute: number;
  /** It sends enough for its gateways to be lent blocks. */
  isBusy: boolean;
  /** The monthly limit of each of its keys, in nano-USD; null: none. */
  keyLimit: bigint | null;
  /** Its budgets, in USD: of each key's day, of its own day, and of the month of the member who owns the keys; null: none. */
  budgets: Budgets | null;
  /** Its own key for the provider "stub", and whether its calls may continue at other providers on credit; null: it has none. */
  own: { id: string; fallback: boolean } | null;
}

const plans = [
  { kind: "plenty", credit: "1000", keys: 6, requestsPerMinute: 10_000 },
  { kind: "plenty", credit: "1000", keys: 2, requestsPerMinute: 10_000 },
  { kind: "credit", credit: "0.003", keys: 2, requestsPerMinute: 10_000 },
  { kind: "credit", credit: "0.004", keys: 1, requestsPerMinute: 10_000 },
  { kind: "window", credit: "1000", keys: 2, requestsPerMinute: 20 },
  { kind: "plenty", credit: "1000", keys: 1, requestsPerMinute: 10_000, isBusy: true },
  { kind: "window", credit: "1000", keys: 1, requestsPerMinute: 600, isBusy: true },
  { kind: "revoked", credit: "1000", keys: 20, requestsPerMinute: 10_000 },
  { kind: "limit", credit: "1000", keys: 2, requestsPerMinute: 10_000, keyLimit: "0.02" },
  {
    kind: "budget",
    credit: "1000",
    keys: 2,
    requestsPerMinute: 10_000,
    budgets: { keyDay: "0.01", day: "0.015", memberMonth: null },
  },
  {
    kind: "budget",
    credit: "1000",
    keys: 3,
    requestsPerMinute: 10_000,
    budgets: { keyDay: "0.01", day: null, memberMonth: "0.02" },
  },
  { kind: "own", credit: "1000", keys: 2, requestsPerMinute: 10_000 },
  { kind: "own-or-credit", credit: "1000", keys: 2, requestsPerMinute: 10_000 },
  { kind: "card", credit: "1", keys: 2, requestsPerMinute: 10_000 },
] as const;

/** Creates the customers when the gateways are ready, and waits until the model can be called. */
export async function makeCustomers(testbed: Testbed): Promise<Customer[]> {
  for (const { url } of testbed.gateways) {
    await until(async () => (await fetch(`${url}/ready`).catch(() => null))?.status === 200, 30_000);
  }
  const control = new Control(testbed);
  const customers: Customer[] = [];
  for (const plan of plans) customers.push(await makeCustomer(plan, control));
  const { redis } = testbed.engines;
  const isServed = (target: string) =>
    customers.some(({ kind, workspace }) => kind === "plenty" && redis.targetOf(workspace) === target);
  // Recovery is seen by those with plenty, so each master has one of them.
  while (!redis.targets.every(isServed)) customers.push(await makeCustomer(plans[0], control));
  await untilRunnable(testbed, customers[0]?.keys[0]?.key ?? "");
  for (const customer of customers) if (customer.kind.startsWith("own")) customer.own = await storeOwnKey(customer, control);
  return customers;
}

async function makeCustomer(plan: (typeof plans)[number], control: Control): Promise<Customer> {
  const made = await control.any((operator) => operator.customer(plan));
  const fallback = plan.kind === "own-or-credit";
  const settings = { early_access: ["routing", "completions", "embeddings", "own_keys"], own_key_fallback: fallback };
  await control.any((operator) => operator.call("PATCH", `/workspaces/${made.workspace}`, settings));
  const keyLimit = "keyLimit" in plan ? parseUsd(plan.keyLimit) : null;
  const budgets = "budgets" in plan ? plan.budgets : null;
  if (budgets !== null) await setBudgets({ ...made, budgets }, control);
  const { kind, requestsPerMinute } = plan;
  return { ...made, kind, requestsPerMinute, isBusy: "isBusy" in plan, keyLimit, budgets, own: null };
}

async function setBudgets(
  { workspace, keys, budgets }: Pick<Customer, "workspace" | "keys"> & { budgets: Budgets },
  control: Control,
): Promise<void> {
  const { keyDay, day, memberMonth } = budgets;
  const change = (path: string, body: unknown) => control.any((operator) => operator.call("PATCH", path, body));
  for (const { id } of keys) await change(`/keys/${id}`, { daily_spend_limit_usd: keyDay });
  await change(`/workspaces/${workspace}`, { daily_spend_limit_usd: day });
  await change("/members/owner@example.test", { workspace, monthly_spend_limit_usd: memberMonth });
}

async function storeOwnKey({ workspace, kind }: Customer, control: Control): Promise<Customer["own"]> {
  const form = { workspace, provider: "stub", key: ownKeyOf(workspace, 0) };
  const { id } = await control.any((operator) => operator.call<{ id: string }>("POST", "/provider-keys", form));
  return { id, fallback: kind === "own-or-credit" };
}

/** The nth own key of a workspace; without a number, how all of its own keys begin. */
export function ownKeyOf(workspace: string, n?: number): string {
  return `${ownKeyStart}${workspace}-number-${n ?? ""}`;
}

async function untilRunnable({ gateways }: Testbed, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  for (const { url } of gateways) {
    for (const id of [model, pairedModel, embeddingsModel]) {
      await until(async () => {
        const response = await fetch(`${url}/gpt/v1/models/${id}`, { headers });
        return response.ok && ((await response.json()) as { runnable?: boolean }).runnable === true;
      }, 30_000);
    }
  }
}
