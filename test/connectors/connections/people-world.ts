/** A workspace with connections to the vendors whose people are read, played on a local port. */
import { generateKeyPairSync } from "node:crypto";
import { quotaHourMs } from "../../../src/accounts/limits.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Control } from "../../support/control.ts";
import type { TestDatabase } from "../../support/servers/databases.ts";
import {
  entraPeople,
  gitHubPeople,
  googlePeople,
  oktaPeople,
  startVendorStub,
  tokenVendor,
  type Vendor,
  type VendorStub,
} from "./vendor-stub.ts";
import { publishVendors } from "./vendors.ts";

export type Form = Record<string, string>;
export const okta: Form = { okta_domain: "acme.okta.com", api_token: "right" };
export const entra: Form = { entra_tenant_id: "tenant-1", entra_client_id: "client", entra_client_secret: "right & proper" };
export const github: Form = { personal_access_token: "right", orgs: "acme, guests" };
export const google: Form = {
  customer_id: "C01",
  administrator_email: "admin@acme.example",
  credentials: JSON.stringify({
    client_email: "reader@acme.iam.gserviceaccount.com",
    private_key: generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" }),
  }),
};

export const staff: [string, string][] = [
  ["zoe@acme.example", "ACTIVE"],
  ["Amy@acme.example", "PASSWORD_EXPIRED"],
  ["new@acme.example", "STAGED"],
  ["out@acme.example", "LOCKED_OUT"],
  ["off@acme.example", "SUSPENDED"],
  ["odd@acme.example", "A_LATER_STATE"],
];

/** Vendors as they are when nothing is wrong. */
export const goodVendors = (): Vendor[] => [tokenVendor, oktaPeople(staff), googlePeople, entraPeople(true), gitHubPeople];

/** A vendor that refuses what is read. */
export function refusing(status: number, body: unknown = { error: "canary" }, headers: Record<string, string> = {}): Vendor {
  return ({ method }) => (method === "GET" ? Response.json(body, { status, headers }) : undefined);
}

export const link = (address: string) => ({ link: `<${address}>; rel="next"` });
export const person = (login: string, state: string, second_factor: boolean | null) => ({ login, state, second_factor });

export class PeopleWorld implements AsyncDisposable {
  readonly database: TestDatabase;
  readonly control: Control;
  readonly stub: VendorStub;
  vendors: Vendor[] = [];

  private constructor(database: TestDatabase) {
    this.database = database;
    this.control = new Control(database.sql);
    this.stub = startVendorStub([(asked) => this.vendors.map((vendor) => vendor(asked)).find((answer) => answer !== undefined)]);
  }

  /** Workspaces `acme` and `other` with the early access. */
  static async open(database: TestDatabase): Promise<PeopleWorld> {
    const world = new PeopleWorld(database);
    world.control.connectors.published = await publishVendors(database.sql);
    for (const name of ["acme", "other"]) {
      await world.control.workspace(name);
      await world.control.expect("PATCH", `/workspaces/${name}`, { body: { early_access: ["people"] } });
    }
    return world;
  }

  /** Vendors that answer well, and a workspace that may read again. */
  refresh(): void {
    this.stub.asked.length = 0;
    this.vendors = goodVendors();
    this.control.callVendors = this.stub.callVendors;
    this.control.clock.advance(quotaHourMs);
  }

  async connect(connector: string, credentials: Form, workspace = "acme"): Promise<string> {
    const made = await this.control.expect("POST", "/connections", { body: { workspace, connector, credentials } });
    return String(made["id"]);
  }

  read(id: string): Promise<Record<string, unknown>> {
    return this.control.expect("POST", `/connections/${id}/people`);
  }

  show(id: string, query = ""): Promise<Record<string, unknown>> {
    return this.control.expect("GET", `/connections/${id}/people${query}`);
  }

  /** What a process that looks for due readings has. */
  parts() {
    const { keyring, callVendors, clock } = this.control;
    return { sql: this.database.sql, keyring, callVendors, clock, log: silentLog };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stub[Symbol.asyncDispose]();
    await this.database[Symbol.asyncDispose]();
  }
}
