/** The operator's actions during a run: adds a little credit to customers who run out of it, and revokes and replaces keys that are in use. */
import { Control } from "../world/control.ts";
import type { Testbed } from "../world/testbed.ts";
import { ownKeyOf, type Customer } from "./customers.ts";
import { UntilStopped } from "./until-stopped.ts";

const usd = "0.001";
/** It revokes one key in this many turns. */
const turnsPerRevocation = 5;

export interface Done {
  /** Confirmed additions of credit: each must be in the ledger exactly once. */
  topUps: { workspace: string; reference: string }[];
  /** When each revocation was confirmed, in wall-clock milliseconds. */
  revoked: { key: string; at: number }[];
}

export class OperatorActions {
  readonly done: Done = { topUps: [], revoked: [] };
  readonly #running: UntilStopped[];

  constructor(testbed: Pick<Testbed, "gateways">, customers: readonly Customer[]) {
    const control = new Control(testbed);
    const poor = customers.filter(({ kind }) => kind === "credit");
    const passing = customers.filter(({ kind }) => kind === "revoked").flatMap(({ keys }) => keys);
    const own = customers.filter((customer) => customer.own !== null);
    this.#running = [
      new UntilStopped((n) => this.#addCredit(n, poor[n % poor.length], control)),
      new UntilStopped((n) => this.#replaceOwnKey(n, own[n % own.length], control)),
      new UntilStopped((n) => this.#revoke(n, passing[Math.floor(n / turnsPerRevocation)], control)),
    ];
  }

  async stop(): Promise<Done> {
    await Promise.all(this.#running.map((action) => action.stop()));
    return this.done;
  }

  /** The same reference adds credit once, however often the call is repeated. */
  async #addCredit(n: number, customer: Customer | undefined, control: Control): Promise<boolean> {
    if (customer === undefined) return false;
    const { workspace } = customer;
    const reference = `top-up ${n}`;
    await control.any((operator) => operator.call("POST", "/credit", { workspace, usd, ref: reference }));
    this.done.topUps.push({ workspace, reference });
    return true;
  }

  /** Calls under way end on the former key. */
  async #replaceOwnKey(n: number, customer: Customer | undefined, control: Control): Promise<boolean> {
    if (!customer?.own) return false;
    const { workspace, own } = customer;
    await control.any((operator) => operator.call("PUT", `/provider-keys/${own.id}`, { key: ownKeyOf(workspace, n + 1) }));
    return true;
  }

  async #revoke(n: number, key: Customer["keys"][number] | undefined, control: Control): Promise<boolean> {
    if (key === undefined) return false;
    if (n % turnsPerRevocation !== turnsPerRevocation - 1) return true;
    await control.any((operator) => operator.call("POST", `/keys/${key.id}/revoke`, {}));
    this.done.revoked.push({ key: key.id, at: Date.now() });
    return true;
  }
}
