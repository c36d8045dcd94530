/** A workspace with credit and keys that the load cannot use up, made by the control API. */
import { requestsPerMinute } from "../data/plan.ts";

const keysCount = 50;
const owner = "owner@example.test";

/** @returns the full keys @throws Error with the answer that is no success */
export async function makeKeys(url: string, operatorToken: string): Promise<string[]> {
  const post = async <T>(path: string, body: unknown): Promise<T> => {
    const headers = { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" };
    const response = await fetch(`${url}/api/console${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`POST ${path} gave ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  const { id: workspace } = await post<{ id: string }>("/workspaces", { name: "hosts", credit_usd: "100000" });
  await post("/members", { workspace, email: owner, role: "admin" });
  const keys: string[] = [];
  for (let n = 1; n <= keysCount; n++) {
    const made = { workspace, owner, name: `key ${n}`, rate_limit_rpm: requestsPerMinute };
    keys.push((await post<{ key: string }>("/keys", made)).key);
  }
  return keys;
}
