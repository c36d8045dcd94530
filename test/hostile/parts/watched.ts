/** Requests of others during an attack. They are answered, and soon. */
import { tallied } from "./bodies.ts";

/** The longest time for an uncached key, a decision and /ready. */
const answerMsMax = 4_000;

interface Watched {
  statuses: Record<string, number>;
  slowestMs: number;
}

export class WatchedRequests {
  readonly #seen: Record<string, Watched> = {};

  /** @param request null: there is none to send yet */
  async watch(name: string, request: Promise<{ status: number } | null>): Promise<void> {
    const startedAt = performance.now();
    const answer = await request.catch(() => ({ status: 0 }));
    if (answer === null) return;
    const watched = (this.#seen[name] ??= { statuses: {}, slowestMs: 0 });
    watched.statuses[answer.status] = (watched.statuses[answer.status] ?? 0) + 1;
    watched.slowestMs = Math.max(watched.slowestMs, performance.now() - startedAt);
  }

  lines(): string[] {
    return Object.entries(this.#seen).map(
      ([name, { statuses, slowestMs }]) => `${name}: ${tallied(statuses)}, slowest ${slowestMs.toFixed(0)} ms`,
    );
  }

  /** The promises that were broken. */
  broken(): string[] {
    return Object.entries(this.#seen).flatMap(([name, { statuses, slowestMs }]) => [
      ...Object.keys(statuses)
        .filter((status) => status !== "200")
        .map((status) => `${name} was answered with ${status}`),
      ...(slowestMs < answerMsMax ? [] : [`${name} took ${slowestMs.toFixed(0)} ms`]),
    ]);
  }
}
