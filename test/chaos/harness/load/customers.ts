/** The customers that send requests: some with plenty of everything, some at the edge of their credit, window or limit, some whose keys are revoked. */
import { parseUsd } from "../../../../src/kernel/money.ts";
import { until } from "../../../support/until.ts";
import { Control } from "../world/control.ts";
import { model, type Testbed } from "../world/testbed.ts";

export interface Customer {
  workspace: string;
  keys: { id: string; key: string }[];
  /** plenty: refusing its requests is a failure of the service. The others are named after what they run out of. */
  kind: "plenty" | "credit" | "window" | "limit" | "revoked";
  requestsPerMinute: number;
  /** The monthly limit of each of its keys, in nano-USD; null: none. */
  keyLimit: bigint | null;
}

const plans = [
  { kind: "plenty", credit: "1000", keys: 6, requestsPerMinute: 10_000 },
  { kind: "plenty", credit: "1000", keys: 2, requestsPerMinute: 10_000 },
  { kind: "credit", credit: "0.003", keys: 2, requestsPerMinute: 10_000 },
  { kind: "credit", credit: "0.004", keys: 1, requestsPerMinute: 10_000 },
  { kind: "window", credit: "1000", keys: 2, requestsPerMinute: 20 },
  { kind: "revoked", credit: "1000", keys: 20, requestsPerMinute: 10_000 },
  { kind: "limit", credit: "1000", keys: 2, requestsPerMinute: 10_000, keyLimit: "0.02" },
] as const;

/** Creates the customers when the gateways are ready, and waits until the model can be called. */
export async function makeCustomers(testbed: Testbed): Promise<Customer[]> {
  for (const { url } of testbed.gateways) {
    await until(async () => (await fetch(`${url}/ready`).catch(() => null))?.status === 200, 30_000);
  }
  const control = new Control(testbed);
  const customers: Customer[] = [];
  for (const plan of plans) {
    const made = await control.any((operator) => operator.customer(plan));
    const settings = { early_access: ["completions"] };
    await control.any((operator) => operator.call("PATCH", `/workspaces/${made.workspace}`, settings));
    const keyLimit = "keyLimit" in plan ? parseUsd(plan.keyLimit) : null;
    customers.push({ ...made, kind: plan.kind, requestsPerMinute: plan.requestsPerMinute, keyLimit });
  }
  await untilRunnable(testbed, customers[0]?.keys[0]?.key ?? "");
  return customers;
}

async function untilRunnable({ gateways }: Testbed, key: string): Promise<void> {
  for (const { url } of gateways) {
    await until(async () => {
      const response = await fetch(`${url}/gpt/v1/models/${model}`, { headers: { authorization: `Bearer ${key}` } });
      return response.ok && ((await response.json()) as { runnable?: boolean }).runnable === true;
    }, 30_000);
  }
}
