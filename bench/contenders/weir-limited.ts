/** Makes keys of Weir with a limit, each in a workspace of its own. */
import { requestsPerMinute } from "../data/plan.ts";
import { budgetUsd, requestsAllowed, type Limit, type LimitedKey } from "../overspend/limit.ts";

interface LimitedKeyPlan {
  url: string;
  operatorToken: string;
  limit: Limit;
  upstream: string;
}

const owner = "limited@bench.test";
const ampleUsd = "1000";

/** The catalog's id of a model without a price for input, so that a request costs what is held for it. */
export function limitedModelId(upstream: string): string {
  return `bench/limited-${upstream}`;
}

/** @throws Error with the answer that is no success */
export async function limitedKey({ url, operatorToken, limit, upstream }: LimitedKeyPlan): Promise<LimitedKey> {
  const post = async <T>(path: string, body: unknown): Promise<T> => {
    const headers = { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" };
    const response = await fetch(`${url}/api/console${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`POST ${path} gave ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  const credit = limit === "budget" ? budgetUsd.toFixed(9) : ampleUsd;
  const { id: workspace } = await post<{ id: string }>("/workspaces", {
    name: `limited ${limit} ${upstream}`,
    credit_usd: credit,
  });
  await post("/members", { workspace, email: owner, role: "admin" });
  const rate = limit === "rate" ? requestsAllowed : requestsPerMinute;
  const { key } = await post<{ key: string }>("/keys", { workspace, owner, name: limit, rate_limit_rpm: rate });
  return { url: `${url}/gpt/v1/chat/completions`, key, model: limitedModelId(upstream) };
}
