/** What the test of roles needs for the pages of security and of connections: what `:id` is, and what each form sends. */
import { publishVendors } from "../../connectors/connections/vendors.ts";
import { insertTicket } from "../../../src/security/tickets/store.ts";
import { startGithub } from "../../security/repositories/github-stub.ts";
import type { PlatformStub } from "../../security/repositories/stub.ts";
import type { ConsoleWorld } from "../console.ts";
import { ListWorld } from "./list-world.ts";
import { bomJson } from "./sbom-documents.ts";

export class SecuritySamples implements AsyncDisposable {
  readonly #world: ConsoleWorld;
  readonly #list: ListWorld;
  readonly #workspace: string;
  #github: PlatformStub | null = null;
  #made = 0;

  private constructor(world: ConsoleWorld, workspace: string) {
    this.#world = world;
    this.#list = new ListWorld(world.sql);
    this.#workspace = workspace;
  }

  /** @param workspace its id; it gets a catalog of vendors, one of whom accepts every credential, and a repository to import */
  static async of(world: ConsoleWorld, workspace: string): Promise<SecuritySamples> {
    const samples = new SecuritySamples(world, workspace);
    const { control } = world;
    control.connectors.published = await publishVendors(world.sql);
    control.probeFetch = async () => ({ status: 200, body: "[]" });
    samples.#github = startGithub({ "Cargo.lock": 'version = 4\n[[package]]\nname = "app"\nversion = "1.0.0"\n' });
    control.platforms.hostUrls.github = samples.#github.url;
    return samples;
  }

  readonly ids: Record<string, () => Promise<string>> = {
    "/projects/:id": () => this.#project(),
    "/projects/:id/components": () => this.#project(),
    "/projects/:id/fixes": () => this.#project(),
    "/projects/:id/sboms": () => this.#project(),
    "/projects/:id/activity": () => this.#project(),
    "/projects/:id/trend": () => this.#project(),
    "/projects/:id/move": () => this.#project(),
    "/projects/:id/vex": () => this.#project(),
    "/products/:id": () => this.#list.product(this.#workspace, `product ${++this.#made}`),
    "/findings/:id": () => this.#finding(),
    "/vulnerabilities/:id": async () => {
      await this.#finding();
      return `CVE-2026-${10_000 + this.#made}`;
    },
    "/tickets/:id": () => this.#ticket(),
    "/connections/:id": () => this.#connection(),
    "/connections/new/:slug": async () => "okta",
    "/connect/:slug": async () => "okta",
  };

  /** A field `file` is sent as a file. */
  readonly forms: Record<string, () => Record<string, string> | Promise<Record<string, string>>> = {
    "/projects/new upload": () => ({ project: `project ${++this.#made}`, file: JSON.stringify(bomJson("1.6")) }),
    "/projects/new repository": () => ({ url: "https://github.com/acme/app" }),
    "/projects/:id triage": async () => ({ finding: await this.#finding(), status: "ignored" }),
    "/projects/:id/sboms upload": () => ({ file: JSON.stringify(bomJson("1.6")) }),
    "/projects/:id/move move": async () => ({ product: await this.#list.product(this.#workspace, `product ${++this.#made}`) }),
    "/projects/:id/vex import": () => ({ file: JSON.stringify({ bomFormat: "CycloneDX", vulnerabilities: [] }) }),
    "/findings triage": async () => ({ finding: await this.#finding(), status: "ignored" }),
    "/findings/:id decide": () => ({ status: "ignored" }),
    "/tickets/:id status": () => ({ status: "closed" }),
    "/products create": () => ({ name: `product ${++this.#made}` }),
    "/products/new create": () => ({ name: `product ${++this.#made}` }),
    "/connections/new/:slug connect": () => ({ okta_domain: "acme.okta.com", api_token: "right" }),
    "/connections/:id rename": () => ({ name: "Another name" }),
    "/connections/:id replace": () => ({ okta_domain: "acme.okta.com", api_token: "other" }),
  };

  #project(): Promise<string> {
    return this.#list.project(this.#workspace, `project ${++this.#made}`);
  }

  async #finding(): Promise<string> {
    const project = await this.#project();
    const name = `CVE-2026-${10_000 + this.#made}`;
    const vulnerability = await this.#list.vulnerability(name);
    await this.#world
      .sql`INSERT INTO vulnerability_names (name, vulnerability_id, shared) VALUES (${name}, ${vulnerability}, false)`;
    const of = { package: await this.#list.package("npm", `package-${this.#made}`), version: "1.0.0" };
    const [id = ""] = await this.#list.find([{ project, vulnerability, ...of }]);
    return id;
  }

  /** The member's own. */
  async #ticket(): Promise<string> {
    const number = ++this.#made;
    const id = `tkt_${String(number).padStart(26, "0")}`;
    const ticket = {
      id,
      reference: `T-${number}`,
      type: "bug",
      subject: "It fails",
      details: { actual_behavior: "<b>" },
    } as const;
    const of = {
      workspace: this.#workspace,
      owner: "member@acme",
      fingerprint: String(number).padStart(64, "0"),
      at: new Date(),
    };
    await this.#world.sql.begin((tx) => insertTicket({ ...ticket, ...of }, tx));
    return id;
  }

  async #connection(): Promise<string> {
    const credentials = { okta_domain: "acme.okta.com", api_token: "right" };
    const made = await this.#world.control.expect("POST", "/connections", {
      body: { workspace: this.#workspace, connector: "okta", credentials },
    });
    return String(made["id"]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#github?.[Symbol.asyncDispose]();
  }
}
