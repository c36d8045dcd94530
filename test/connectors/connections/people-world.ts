/** A workspace with connections to the vendors whose people are read, played on a local port. */
import { generateKeyPairSync } from "node:crypto";
import { quotaHourMs } from "../../../src/accounts/limits.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Control } from "../../support/control.ts";
import type { TestDatabase } from "../../support/servers/databases.ts";
import {
  entraPeople,
  gitHubApp,
  gitHubPeople,
  googlePeople,
  oktaApp,
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
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const p256 = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
/** Keys as people paste them, each with the vendor that knows it. */
export const oktaKeys = {
  "PEM with RSA": { key: rsa, text: rsa.export({ type: "pkcs8", format: "pem" }).toString() },
  "a JSON Web Key with RSA": { key: rsa, text: JSON.stringify({ ...rsa.export({ format: "jwk" }), kid: "key-1" }) },
  "a JSON Web Key of P-256": { key: p256, text: JSON.stringify({ ...p256.export({ format: "jwk" }), kid: "key-1" }) },
};
/** As GitHub writes it. */
export const gitHubKey = { key: rsa, text: rsa.export({ type: "pkcs1", format: "pem" }).toString() };
export const oktaAppForm: Form = {
  okta_domain: "acme.okta.com",
  client_id: "0oa1",
  private_key_id: "key-1",
  private_key: oktaKeys["PEM with RSA"].text,
};
export const gitHubAppForm: Form = { github_app_id: "77", github_app_private_key: gitHubKey.text, organization: "acme" };
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
  ["gone@acme.example", "DEPROVISIONED"],
  ["left@acme.example", "DEPROVISIONED"],
  ["past@acme.example", "DEPROVISIONED"],
  ["odd@acme.example", "A_LATER_STATE"],
];

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
    this.restoreVendors();
    this.control.callVendors = this.stub.callVendors;
    this.control.clock.advance(quotaHourMs);
  }

  /** Vendors as they are when nothing is wrong. */
  restoreVendors(): void {
    const apps = [oktaApp(() => rsa, "key-1", this.nowSeconds), gitHubApp(rsa, this.nowSeconds)];
    this.vendors = [...apps, tokenVendor, oktaPeople(staff), googlePeople, entraPeople(true), gitHubPeople];
  }

  readonly nowSeconds = (): number => Math.floor(this.control.clock.now() / 1_000);

  async connect(connector: string, credentials: Form, workspace = "acme"): Promise<string> {
    const isApp = "private_key" in credentials || "github_app_id" in credentials;
    const body = { workspace, connector, credentials, credential_set: isApp ? 1 : 0 };
    const made = await this.control.expect("POST", "/connections", { body });
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
