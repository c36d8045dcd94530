/** Checks a running Weir: whether it can serve, how many generations are unsettled, and whether the ledger is correct. */

export class Verifier {
  readonly #url: string;
  readonly #token: string;
  readonly #metricsPorts: number[];

  /** @param parts.metricsPorts the port of each gateway */
  constructor({ url, operatorToken, metricsPorts }: { url: string; operatorToken: string; metricsPorts: number[] }) {
    this.#url = url;
    this.#token = operatorToken;
    this.#metricsPorts = metricsPorts;
  }

  /** Whether all these models can be called. */
  async runnable(ids: string[]): Promise<boolean> {
    const ready = await fetch(`${this.#url}/ready`).catch(() => null);
    if (ready?.status !== 200) return false;
    const response = await this.#control("/models");
    if (!response.ok) return false;
    const { data } = (await response.json()) as { data: { id: string; runnable: boolean }[] };
    return ids.every((id) => data.some((model) => model.id === id && model.runnable));
  }

  /** The number of generations that the ledger has not confirmed to the gateways. */
  async unsettled(): Promise<number> {
    const counts = await Promise.all(this.#metricsPorts.map(unsettledOf));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** @throws Error with the broken invariant */
  async verify(say: (line: string) => void): Promise<void> {
    say("ledger verify");
    const response = await this.#control("/ledger/verify");
    const text = await response.text();
    if (!response.ok) throw new Error(`ledger verify answered ${response.status}: ${text}`);
    const { ok, broken, checked } = JSON.parse(text) as { ok: boolean; broken: unknown; checked: { rows: number }[] };
    if (!ok) throw new Error(`ledger verify found ${JSON.stringify(broken)}`);
    say(`ledger verify: ok, ${checked.length} invariants, up to ${Math.max(...checked.map(({ rows }) => rows))} rows`);
  }

  /** Changes settings of the hot population's workspace. */
  async changeHot(settings: Record<string, unknown>): Promise<void> {
    const { data } = (await (await this.#control("/workspaces")).json()) as { data: { id: string; name: string }[] };
    const hot = data.find(({ name }) => name.startsWith("hot "));
    const change = { method: "PATCH", body: JSON.stringify(settings) };
    const response = await this.#control(`/workspaces/${hot?.id}`, change);
    if (!response.ok) throw new Error(`Settings could not be changed: ${response.status} ${await response.text()}`);
  }

  #control(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#token}`, "content-type": "application/json" };
    return fetch(`${this.#url}/api/console${path}`, { ...init, headers });
  }
}

async function unsettledOf(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const gauge = /^weir_generations_unsettled (\d+)/m.exec(text)?.[1];
  if (gauge === undefined) throw new Error("The metrics have no weir_generations_unsettled");
  return Number(gauge);
}
