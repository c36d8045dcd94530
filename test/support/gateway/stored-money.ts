/** Customers in a database, metering for them, and the money rows that result. */
import { expect } from "bun:test";
import type { Database } from "../../../src/backing/backing.ts";
import type { Settlement } from "../../../src/gateway/journal/settlement.ts";
import { alarmsTotal, type Alarm } from "../../../src/kernel/metrics.ts";
import { verifyLedger } from "../../../src/gateway/metering/verify.ts";
import { Control } from "../control.ts";
import { TestMetering } from "./metering.ts";
import { settlement } from "./settlements.ts";

/** In nano-USD. */
export const usd = 1_000_000_000n;

/** What a settlement of test/support/gateway/settlements.ts costs: 100 tokens of 1,000 and 50 of 2,000 nano-USD. */
export const cost = 200_000n;

export interface Customer {
  name: string;
  workspace: string;
  key: string;
  metering: TestMetering;
  ended: (fields?: Partial<Settlement>) => Settlement;
}

export class StoredMoney {
  readonly sql: Database;
  readonly control: Control;
  #customers = 0;

  constructor(sql: Database) {
    this.sql = sql;
    this.control = new Control(sql);
  }

  /** A new workspace with 1 USD and a key, and metering for it. */
  async customer(): Promise<Customer> {
    const name = `w${++this.#customers}`;
    const workspace = await this.control.workspace(name, "1");
    const { id: key } = await this.control.key(name);
    const ended = (fields: Partial<Settlement> = {}): Settlement => settlement({ workspace, key, ...fields });
    return { name, workspace, key, metering: new TestMetering(this.sql), ended };
  }

  async balance(workspace: string): Promise<bigint> {
    const [row] = await this.sql<{ balance_nano: bigint }[]>`
      SELECT balance_nano FROM credit_accounts WHERE workspace_id = ${workspace}`;
    return row?.balance_nano ?? -1n;
  }

  async charges(workspace: string) {
    const rows = await this.sql<{ generation_id: string; outcome: string; cost_nano: bigint; late: boolean }[]>`
      SELECT generation_id, outcome, cost_nano, late FROM generations WHERE workspace_id = ${workspace} ORDER BY generation_id`;
    return [...rows];
  }

  /** @param id of the event, or of the generation where it was put aside alone */
  async deadLetters(id: string) {
    const rows = await this.sql<{ reason: string; payload: Uint8Array }[]>`
      SELECT reason, payload FROM dead_letters WHERE message_id = ${id}`;
    return [...rows];
  }

  /** Every invariant of the stored money holds. */
  async expectSound(): Promise<void> {
    expect((await verifyLedger({ sql: this.sql })).broken).toBeNull();
  }
}

/** Makes the workspace ready, with this generation open in it. */
export async function hold(
  { counters }: TestMetering,
  { workspace, generation, key, month, admittedAt }: Settlement,
): Promise<void> {
  const open = { generation, fingerprint: "f0", amount: 1_000_000n, key, month, admittedAt, deadline: admittedAt + 1 };
  await counters.load({ account: { workspace, balance: usd, sequence: 1n, months: [] }, holds: [open], windows: [] });
}

/** How often it was raised in this process. */
export async function alarmsRaised(alarm: Alarm): Promise<number> {
  const { values } = await alarmsTotal.get();
  return values.find(({ labels }) => labels.alarm === alarm)?.value ?? 0;
}
