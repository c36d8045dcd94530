/** The progress of open generations, from which a successor charges them if this process dies. Changes are written once a second, and at once when another route is called. */
import type { GenerationId } from "../../kernel/ids.ts";
import { progressRefreshMs } from "../limits.ts";
import type { OwedRoute, ProgressLine } from "./spool-line.ts";

export interface Progress {
  /** Whether a provider has the request. */
  sent: boolean;
  promptTokens: number;
  /** Parts of the prompt that have prices of their own. */
  cachedTokens: number;
  cacheWriteTokens: number;
  completionTokens: number;
  /** The route, if it is not the one in the generation's intent; null: it is that one. */
  route: OwedRoute | null;
}

/** A generation's progress in its last line, with the line's time in monotonic milliseconds. */
interface Written extends Progress {
  at: number;
}

interface Tracked {
  read: () => Progress;
  /** null: no line has it. A successor then treats it as sent, with nothing delivered. */
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

  /** The last line was not written: the next one repeats everything. Until then earlier lines are valid. */
  markUnwritten(): void {
    for (const { written } of this.#tracked.values()) if (written) written.at = -Infinity;
  }

  /**
   * Progress that has changed, and progress whose last line is so old that its segment may be removed; null: none.
   * @param nowMs monotonic
   */
  changes(nowMs: number): ProgressLine | null {
    const line = emptyLine();
    for (const [generation, tracked] of this.#tracked) {
      const progress = tracked.read();
      if (isDue(progress, tracked.written, nowMs)) addTo(line, { generation, tracked, progress, nowMs });
    }
    return line.unsent.length + line.delivered.length === 0 ? null : line;
  }

  /** Progress of one generation, whether it has changed or not. @param nowMs monotonic */
  ofOne(generation: GenerationId, nowMs: number): ProgressLine {
    const line = emptyLine();
    const tracked = this.#tracked.get(generation);
    if (tracked !== undefined) addTo(line, { generation, tracked, progress: tracked.read(), nowMs });
    return line;
  }
}

function emptyLine(): ProgressLine {
  return { unsent: [], delivered: [], routed: [] };
}

interface Addition {
  generation: GenerationId;
  tracked: Tracked;
  progress: Progress;
  nowMs: number;
}

/** Adds progress to a line, and remembers that it was written. */
function addTo(line: ProgressLine, { generation, tracked, progress, nowMs }: Addition): void {
  tracked.written = { ...progress, at: nowMs };
  const { sent, promptTokens, cachedTokens, cacheWriteTokens, completionTokens, route } = progress;
  if (sent) line.delivered.push([generation, promptTokens, cachedTokens, cacheWriteTokens, completionTokens]);
  else line.unsent.push(generation);
  if (route !== null) line.routed.push([generation, route]);
}

function isDue(progress: Progress, written: Written | null, nowMs: number): boolean {
  if (written === null) return !progress.sent || progress.completionTokens > 0 || progress.route !== null;
  if (nowMs - written.at >= progressRefreshMs) return true;
  const { sent, promptTokens, completionTokens, route } = progress;
  const same = sent === written.sent && promptTokens === written.promptTokens && completionTokens === written.completionTokens;
  return !same || route?.provider !== written.route?.provider || route?.model !== written.route?.model;
}
