/** Open pages that refresh themselves, as src/console/look/live.js does: each asks two seconds after its last answer whether anything is new. */
import type { Clicker } from "./clickers.ts";

export interface Refreshes {
  tabs: number;
  /** Questions a second. */
  asked: number;
  /** Pages a second that were rendered for them. */
  rendered: number;
  /** Each status with its count. */
  statuses: Record<string, number>;
}

const everyMs = 2_000;

/** Refreshes Home and Requests of each person until `work` has ended. */
export async function refreshDuring<Result>(
  { people, url }: { people: readonly Clicker[]; url: string },
  work: () => Promise<Result>,
): Promise<{ result: Result; refreshed: Refreshes }> {
  const statuses: Record<string, number> = {};
  const ended = new AbortController();
  const startedAt = performance.now();
  const addresses = people.flatMap(({ cookie, addresses: [first = ""] }) => {
    const base = /^\/console\/w\/[^/?]+/.exec(first)?.[0] ?? "";
    return ["", "/requests"].map((path) => ({ cookie, address: url + base + path }));
  });
  const tabs = addresses.map(async ({ cookie, address }, n) => {
    let tag = '"none"';
    // People open their pages one after another.
    await wait((n * everyMs) / addresses.length, ended.signal);
    while (!ended.signal.aborted) {
      const response = await fetch(address, { headers: { cookie, "if-none-match": tag }, redirect: "manual" });
      await response.arrayBuffer();
      statuses[response.status] = (statuses[response.status] ?? 0) + 1;
      tag = response.headers.get("etag") ?? tag;
      await wait(everyMs, ended.signal);
    }
  });
  try {
    const result = await work();
    const seconds = (performance.now() - startedAt) / 1_000;
    const count = Object.values(statuses).reduce((sum, one) => sum + one, 0);
    const rendered = (statuses[200] ?? 0) / seconds;
    return { result, refreshed: { tabs: tabs.length, asked: count / seconds, rendered, statuses } };
  } finally {
    ended.abort();
    await Promise.all(tabs);
  }
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
