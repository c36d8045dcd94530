/** The control API of a running service, as an operator calls it. */

interface Sent {
  method?: string;
  body?: unknown;
  accept?: string;
  /** The member on whose behalf the operator acts. */
  as?: string;
}

export class Operator {
  readonly #url: string;
  readonly token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.token = token;
  }

  /** @throws Error with the answer if it is not a success */
  async call<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    { as }: Pick<Sent, "as"> = {},
  ): Promise<T> {
    const response = await this.send(`/api/console${path}`, { method, body, ...(as !== undefined && { as }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} gave ${response.status}: ${text}`);
    return JSON.parse(text) as T;
  }

  /** Any path of the service, with the operator token. */
  send(path: string, { method = "GET", body, accept = "application/json", as }: Sent = {}): Promise<Response> {
    return fetch(`${this.#url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        "content-type": "application/json",
        accept,
        ...(as !== undefined && { "x-act-as": as }),
      },
      ...(body === undefined ? {} : { body: body instanceof Uint8Array ? Buffer.from(body) : JSON.stringify(body) }),
    });
  }

  /** A workspace with an owner and one key. Amounts in USD. */
  async customer(plan: {
    credit: string;
    keyLimit?: string;
    spendLimit?: string;
    requestsPerMinute?: number;
    keys?: number;
    earlyAccess?: string[];
  }): Promise<Customer> {
    const name = `customer ${crypto.randomUUID()}`;
    const workspace = await this.call<{ id: string }>("POST", "/workspaces", { name, credit_usd: plan.credit });
    await this.call("POST", "/members", { workspace: workspace.id, email: "owner@example.test", role: "admin" });
    if (plan.spendLimit !== undefined) {
      await this.call("PATCH", `/workspaces/${workspace.id}`, { spend_limit_usd: plan.spendLimit });
    }
    if (plan.earlyAccess !== undefined) {
      await this.call("PATCH", `/workspaces/${workspace.id}`, { early_access: plan.earlyAccess });
    }
    const keys: Customer["keys"] = [];
    for (let n = 0; n < (plan.keys ?? 1); n++) {
      keys.push(
        await this.call("POST", "/keys", {
          workspace: workspace.id,
          owner: "owner@example.test",
          name: `key ${n}`,
          ...(plan.keyLimit === undefined ? {} : { monthly_spend_limit_usd: plan.keyLimit }),
          rate_limit_rpm: plan.requestsPerMinute ?? 10_000,
        }),
      );
    }
    return { workspace: workspace.id, keys };
  }

  /** The tools key of the only member of a new workspace. */
  async agentKey(): Promise<string> {
    const [workspace, owner] = ["agents", "agent@example.test"];
    await this.call("POST", "/workspaces", { name: workspace });
    await this.call("POST", "/members", { workspace, email: owner, role: "member" });
    return this.toolsKey({ workspace, owner });
  }

  async toolsKey(of: { workspace: string; owner: string }): Promise<string> {
    return (await this.call<{ key: string }>("POST", "/keys", { ...of, kind: "tools" })).key;
  }

  verify(): Promise<{ ok: boolean; broken: unknown }> {
    return this.call("GET", "/ledger/verify");
  }

  show(workspace: string): Promise<{ balance_usd: string; reserved_usd: string | null; available_usd: string | null }> {
    return this.call("GET", `/workspaces/${workspace}`);
  }

  async log(query: string): Promise<LogRow[]> {
    return (await this.call<{ data: LogRow[] }>("GET", `/log?${query}`)).data;
  }
}

export interface Customer {
  workspace: string;
  keys: { id: string; key: string }[];
}

export interface LogRow {
  generation_id: string;
  request_id: string;
  /** null: a member sent it from the Workbench. */
  key_id: string | null;
  member: string | null;
  endpoint: string;
  model: string;
  provider: string;
  status: number;
  code: string | null;
  /** The generation whose answer was sent again. */
  replayed_from: string | null;
  streamed: boolean;
  prompt_tokens: number;
  completion_tokens: number;
  cache_write_tokens: number;
  tier_above_tokens: number | null;
  reserved_usd: string;
  cost_usd: string;
  usage_estimated: boolean;
  at: string;
}
