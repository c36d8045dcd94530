/** Finds the events in a stream's bytes, however they are cut. */

/** A provider that says when it sent an event writes this much of its time into it: milliseconds since 1970 between two signs. */
const sign = "@";
const timeLength = "1700000000000.000".length;
const dataField = "data:";
const eventEnd = "\n\n";

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
  push(bytes: Buffer, from = 0, to = bytes.length): StreamEvent[] {
    const text = this.#rest + bytes.toString("latin1", from, to);
    const events: StreamEvent[] = [];
    let at = 0;
    for (let end = text.indexOf(eventEnd); end !== -1; end = text.indexOf(eventEnd, at)) {
      const event = text.slice(at, end);
      const value = valueIn(event);
      if (value !== -1) events.push(eventOf(event, value));
      at = end + eventEnd.length;
    }
    this.#rest = at === text.length ? "" : text.slice(at);
    return events;
  }
}

/** @returns where the value of its data begins; -1: it has none */
function valueIn(event: string): number {
  const before = event.startsWith(dataField) ? 0 : event.indexOf(`\n${dataField}`);
  if (before === -1) return -1;
  const value = event.indexOf(dataField, before) + dataField.length;
  return event[value] === " " ? value + 1 : value;
}

function eventOf(text: string, value: number): StreamEvent {
  const failed = text.startsWith('{"error":', value);
  const error = failed ? (/"code": ?"([^"]*)"/.exec(text)?.[1] ?? "error") : null;
  return { done: text.startsWith("[DONE]", value), error, sentAt: sentAtOf(text) };
}

function sentAtOf(text: string): number | null {
  const end = text.lastIndexOf(sign);
  const start = end - timeLength;
  if (text[start - 1] !== sign) return null;
  const time = Number(text.slice(start, end));
  return Number.isNaN(time) ? null : time;
}

/** Milliseconds since 1970, finer than Date.now: what provider and client of one machine compare. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}

/** The mark that `EventReader` finds. */
export function sentMark(): string {
  return sign + preciseNow().toFixed(3) + sign;
}
