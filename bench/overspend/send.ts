/** Sends many requests at once with one key. */
import { outputTokens, type LimitedKey } from "./limit.ts";

/** How many answers had each status; a request without an answer has status 0. */
export type Statuses = Record<string, number>;

const timeoutMs = 60_000;

/** Answers are read to their end. */
export async function sendAtOnce({ url, key, model }: LimitedKey, count: number, streamed: boolean): Promise<Statuses> {
  const messages = [{ role: "user", content: "How high is the weir?" }];
  const body = JSON.stringify({ model, messages, max_tokens: outputTokens, ...(streamed && { stream: true }) });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const send = async (): Promise<number> => {
    try {
      const response = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(timeoutMs) });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return 0;
    }
  };
  const statuses = await Promise.all(Array.from({ length: count }, send));
  return Object.fromEntries([...Map.groupBy(statuses, String)].map(([status, all]) => [status, all.length]));
}

export function passed(statuses: Statuses): number {
  return statuses["200"] ?? 0;
}
