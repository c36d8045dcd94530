/** How far open generations are: what a successor charges for them, should this process die. Written once a second, where it changed. */
import type { GenerationId } from "../../kernel/ids.ts";
import { progressRefreshMs } from "../limits.ts";
import type { OwedRoute, ProgressLine } from "./spool-line.ts";

export interface Progress {
  /** A provider has the request. */
  sent: boolean;
  promptTokens: number;
  /** Parts of the prompt that have prices of their own. */
  cachedTokens: number;
  cacheWriteTokens: number;
  completionTokens: number;
  /** Another route than the one in the generation's intent; null: that one. */
  route: OwedRoute | null;
}

/** What the last line said of a generation, and when in monotonic milliseconds. */
interface Written extends Progress {
  at: number;
}

interface Tracked {
  read: () => Progress;
  /** null: no line tells of it. Its successor then takes it for sent, with nothing delivered. */
  written: Written | null;
}

export class ProgressTracker {
  readonly #tracked = new Map<GenerationId, Tracked>();

  get size(): number {
    return this.#tracked.size;
  }

  track(generation: GenerationId, read: () => Progress): void {
    this.#tracked.set(generation, { read, written: null });
  }

  forget(generation: GenerationId): void {
    this.#tracked.delete(generation);
  }

  /** The last line was not written: all is told anew with the next. What earlier lines told still stands until then. */
  markUnwritten(): void {
    for (const { written } of this.#tracked.values()) if (written) written.at = -Infinity;
  }

  /**
   * What has changed, and what a line told so long ago that its segment may be removed; null: nothing.
   * @param nowMs monotonic
   */
  changes(nowMs: number): ProgressLine | null {
    const line: ProgressLine = { unsent: [], delivered: [], routed: [] };
    for (const [generation, followed] of this.#tracked) {
      const progress = followed.read();
      if (!isDue(progress, followed.written, nowMs)) continue;
      followed.written = { ...progress, at: nowMs };
      const { sent, promptTokens, cachedTokens, cacheWriteTokens, completionTokens, route } = progress;
      if (sent) line.delivered.push([generation, promptTokens, cachedTokens, cacheWriteTokens, completionTokens]);
      else line.unsent.push(generation);
      if (route !== null) line.routed.push([generation, route]);
    }
    return line.unsent.length + line.delivered.length === 0 ? null : line;
  }
}

function isDue(progress: Progress, written: Written | null, nowMs: number): boolean {
  if (written === null) return !progress.sent || progress.completionTokens > 0 || progress.route !== null;
  if (nowMs - written.at >= progressRefreshMs) return true;
  const { sent, promptTokens, completionTokens, route } = progress;
  const same = sent === written.sent && promptTokens === written.promptTokens && completionTokens === written.completionTokens;
  return !same || route?.provider !== written.route?.provider;
}
