/** A service with three providers: two that the service has a key for, and one that only workspaces have keys for. */
import { atEnd } from "../processes/at-end.ts";
import { Fleet, operatorToken } from "../servers/fleet.ts";
import { startProviderStub, type ProviderStub } from "../providers/provider-stub.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../providers/stub-catalog.ts";
import { temporaryFolder } from "../temporary-folder.ts";

export const serviceKey = "sk-the-key-of-the-service";

const prices_per_1m_usd = { input: "1.00", output: "2.00" };
const dearPrices = { input: "10.00", output: "20.00" };

export interface Answered {
  status: number;
  body: Record<string, unknown>;
}

export interface Tenant {
  workspace: string;
  key: string;
}

let shared: Promise<OwnKeyStage> | null = null;

/**
 * One process for all files, which the end of the test process stops: each makes tenants of its own. A provider that does not answer is
 * given up after two seconds.
 */
export function sharedOwnKeyStage(): Promise<OwnKeyStage> {
  return (shared ??= openShared());
}

async function openShared(): Promise<OwnKeyStage> {
  const stage = await OwnKeyStage.open({ STREAM_DURATION_MS: "2000" });
  atEnd(() => stage[Symbol.asyncDispose]());
  return stage;
}

export class OwnKeyStage implements AsyncDisposable {
  readonly #stack: AsyncDisposableStack;
  readonly fleet: Fleet;
  readonly alpha: ProviderStub;
  readonly beta: ProviderStub;
  readonly lonely: ProviderStub;

  private constructor(
    fleet: Fleet,
    [alpha, beta, lonely]: [ProviderStub, ProviderStub, ProviderStub],
    stack: AsyncDisposableStack,
  ) {
    this.fleet = fleet;
    this.alpha = alpha;
    this.beta = beta;
    this.lonely = lonely;
    this.#stack = stack;
  }

  static async open(variables: Record<string, string>): Promise<OwnKeyStage> {
    await using stack = new AsyncDisposableStack();
    const [alpha, beta, lonely] = await Promise.all([startProviderStub(), startProviderStub(), startProviderStub()]);
    for (const stub of [alpha, beta, lonely]) stack.use(stub);
    const { path } = stack.use(await temporaryFolder());
    const catalogDir = await writeCatalog(path, {
      providers: [
        stubProvider({ id: "alpha", name: "Alpha", base_url: alpha.url }),
        stubProvider({ id: "beta", name: "Beta", base_url: beta.url }),
        stubProvider({ id: "lonely", name: "Lonely", base_url: lonely.url, key_env: "NOBODY_HAS_THIS_KEY" }),
        stubProvider({ id: "unread", base_url: lonely.url, terms_checked: false }),
        stubProvider({ id: "keyless", base_url: lonely.url, key_env: null }),
      ],
      models: {
        stub: [
          stubModel({
            id: "stub/both",
            routes: ["alpha", "beta"].map((provider) => ({ provider, upstream_model: "both", prices_per_1m_usd })),
          }),
          stubModel({ id: "stub/alpha", routes: [{ provider: "alpha", upstream_model: "a", prices_per_1m_usd }] }),
          stubModel({ id: "stub/dear", routes: [{ provider: "lonely", upstream_model: "d", prices_per_1m_usd: dearPrices }] }),
          stubModel({ id: "stub/cheap", routes: [{ provider: "lonely", upstream_model: "c", prices_per_1m_usd }] }),
        ],
      },
    });
    const environment = { [stubKeyEnv]: serviceKey, ...variables };
    const fleet = stack.use(await Fleet.start({ services: null, inTest: true, catalogDir, environment }));
    await fleet.runnable(["stub/both", "stub/alpha"]);
    return new OwnKeyStage(fleet, [alpha, beta, lonely], stack.move());
  }

  /** A workspace with 1 USD and own keys switched on. Its admin is `owner@example.test`. */
  async tenant({ credit = "1", earlyAccess = ["own_keys"] } = {}): Promise<Tenant> {
    const operator = this.fleet.operator();
    const { workspace, keys } = await operator.customer({ credit });
    await operator.call("PATCH", `/workspaces/${workspace}`, { early_access: earlyAccess });
    return { workspace, key: keys[0]?.key ?? "" };
  }

  /** Stores an own key that the provider accepts. @returns its id */
  async store({ workspace }: Tenant, form: Record<string, unknown>): Promise<string> {
    const { id } = await this.fleet.operator().call<{ id: string }>("POST", "/provider-keys", { workspace, ...form });
    return id;
  }

  /** @param as the member on whose behalf the operator token acts */
  async call(method: string, path: string, { body, as }: { body?: unknown; as?: string } = {}): Promise<Answered> {
    const response = await fetch(`${this.fleet.url()}/api/console${path}`, {
      method,
      headers: {
        authorization: `Bearer ${operatorToken}`,
        "content-type": "application/json",
        ...(as !== undefined && { "x-act-as": as }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  /** @returns `status code field` */
  async refusal(method: string, path: string, sent: { body?: unknown; as?: string } = {}): Promise<string> {
    const { status, body } = await this.call(method, path, sent);
    const { code, field } = body["error"] as { code: string; field: string | null };
    return `${status} ${code} ${field}`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

/** The keys that the stub's calls carried. */
export function keysOf(stub: ProviderStub): (string | undefined)[] {
  return stub.calls.map(({ headers }) => headers["authorization"]?.replace("Bearer ", ""));
}
