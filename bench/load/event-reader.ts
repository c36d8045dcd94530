/** Finds the events in a stream's bytes, however they are cut. */

/** A provider that says when it sent an event writes this much of its time into it: milliseconds since 1970 between two signs. */
const sentAt = /@(\d{13}\.\d{3})@/;

export interface StreamEvent {
  /** The stream's last event, `[DONE]`. */
  done: boolean;
  /** An event that tells of a failure. */
  error: string | null;
  /** Milliseconds since 1970; null where the provider does not say. */
  sentAt: number | null;
}

export class EventReader {
  #rest = "";

  /** The events that end within these bytes; comments are none. */
  push(bytes: Buffer): StreamEvent[] {
    const text = this.#rest + bytes.toString("latin1", 0, bytes.length);
    const parts = text.split("\n\n");
    this.#rest = parts.pop() ?? "";
    return parts.filter((part) => part.startsWith("data:") || part.includes("\ndata:")).map(eventOf);
  }
}

function eventOf(text: string): StreamEvent {
  const failure = /^data: ?\{"error":/m.test(text) ? (/"code": ?"([^"]*)"/.exec(text)?.[1] ?? "error") : null;
  const time = sentAt.exec(text)?.[1];
  return { done: /^data: ?\[DONE\]/m.test(text), error: failure, sentAt: time === undefined ? null : Number(time) };
}

/** Milliseconds since 1970, finer than Date.now: what provider and client of one machine compare. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}

/** The mark that `EventReader` finds. */
export function sentMark(): string {
  return `@${preciseNow().toFixed(3)}@`;
}
