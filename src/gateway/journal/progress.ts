/**
 * The progress of open generations, from which a successor charges them if this process dies. Changes of the tokens delivered are written
 * once a second, in one line for all generations; the facts that decide whether and to which route a request is charged are written at
 * once. So a crash costs the customer nothing and the service at most a second of delivered output. A generation's last line counts, and a
 * line that was lost is repeated by the next.
 */
import type { Clock } from "../../kernel/clock.ts";
import { GatewayError } from "../../kernel/errors.ts";
import type { GenerationId } from "../../kernel/ids.ts";
import { progressMs, progressRefreshMs } from "../limits.ts";
import type { Spool } from "./spool.ts";
import type { OwedRoute, ProgressLine } from "./spool-line.ts";

export interface Progress {
  /** Whether a provider has the request. */
  sent: boolean;
  promptTokens: number;
  /** Parts of the prompt that have their own prices. */
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
  /** Tokens of the prompt, by the generation's intent. */
  promptTokens: number;
  /** null: no line has it. A successor then treats it as sent, with the prompt of its intent and nothing delivered. */
  written: Written | null;
}

export class ProgressTracker implements Disposable {
  readonly #spool: Pick<Spool, "writeProgress">;
  readonly #clock: Clock;
  readonly #tracked = new Map<GenerationId, Tracked>();
  #cancelTimer: (() => void) | null = null;

  constructor(spool: Pick<Spool, "writeProgress">, clock: Clock) {
    this.#spool = spool;
    this.#clock = clock;
  }

  /**
   * Writes what changes once a second until the generation is forgotten.
   * @param promptTokens of its intent
   */
  track(generation: GenerationId, promptTokens: number, read: () => Progress): void {
    this.#tracked.set(generation, { read, promptTokens, written: null });
    this.#cancelTimer ??= this.#clock.after(progressMs, () => this.#writeChanges());
  }

  /** Call it when the generation has ended. */
  forget(generation: GenerationId): void {
    this.#tracked.delete(generation);
  }

  /**
   * Call it before a different route is called: if this process dies meanwhile, its successor must charge the new route, which may have
   * another payer.
   * @throws GatewayError billing_unavailable when it cannot be written: the route must not be called
   */
  noteRoute(generation: GenerationId): void {
    this.#writeOrRefuse(generation);
  }

  /** Call it when a request begins to wait for a connection: a successor does not charge it. What cannot be written is repeated within a second. */
  noteUnsent(generation: GenerationId): void {
    this.#tryToWrite(this.#of(generation));
  }

  /**
   * Call it before a request leaves that waited for a connection: from then on a successor charges it.
   * @throws GatewayError billing_unavailable when it cannot be written: the request must not leave
   */
  noteSent(generation: GenerationId): void {
    this.#writeOrRefuse(generation);
  }

  [Symbol.dispose](): void {
    this.#cancelTimer?.();
  }

  #writeChanges(): void {
    const changes = this.#changes(this.#clock.monotonic());
    if (changes !== null) this.#tryToWrite(changes);
    this.#cancelTimer = this.#tracked.size === 0 ? null : this.#clock.after(progressMs, () => this.#writeChanges());
  }

  /** @throws GatewayError billing_unavailable */
  #writeOrRefuse(generation: GenerationId): void {
    try {
      this.#write(this.#of(generation));
    } catch (error) {
      throw new GatewayError("billing_unavailable", { cause: error });
    }
  }

  /** The next line repeats what cannot be written. The spool then refuses admissions, and reports it. */
  #tryToWrite(line: ProgressLine): void {
    try {
      this.#write(line);
    } catch {
      // The next line repeats it.
    }
  }

  /** @throws Error when it cannot be written. The next line then repeats everything; until then earlier lines are valid. */
  #write(line: ProgressLine): void {
    try {
      this.#spool.writeProgress(line);
    } catch (error) {
      for (const { written } of this.#tracked.values()) if (written) written.at = -Infinity;
      throw error;
    }
  }

  /**
   * Progress that has changed, and progress whose last line is so old that its segment may be removed; null: none.
   * @param nowMs monotonic
   */
  #changes(nowMs: number): ProgressLine | null {
    const line = emptyLine();
    for (const [generation, tracked] of this.#tracked) {
      const progress = tracked.read();
      if (isDue(progress, tracked, nowMs)) addTo(line, { generation, tracked, progress, nowMs });
    }
    return line.unsent.length + line.delivered.length === 0 ? null : line;
  }

  /** Progress of this generation, whether it has changed or not. */
  #of(generation: GenerationId): ProgressLine {
    const line = emptyLine();
    const tracked = this.#tracked.get(generation);
    const nowMs = this.#clock.monotonic();
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

function isDue(progress: Progress, { written, promptTokens: intended }: Tracked, nowMs: number): boolean {
  if (written === null) {
    const { sent, promptTokens, cachedTokens, completionTokens, route } = progress;
    return !sent || promptTokens !== intended || cachedTokens + completionTokens > 0 || route !== null;
  }
  if (nowMs - written.at >= progressRefreshMs) return true;
  const { sent, promptTokens, completionTokens, route } = progress;
  const same = sent === written.sent && promptTokens === written.promptTokens && completionTokens === written.completionTokens;
  return !same || route?.provider !== written.route?.provider || route?.model !== written.route?.model;
}
