/** Finds the events in a stream's bytes, however these are split. */

/** The mock provider writes the time of sending into each event: milliseconds since 1970 between two of these signs. */
const sign = "@";
const timeLength = "1700000000000.000".length;
const dataField = "data:";
const eventEnd = "\n\n";

/** The last events of Messages and of Responses. */
const lastEvent = /^event: ?(message_stop|response\.completed)\n/;

export interface StreamEvent {
  /** Whether it is the stream's last event: `[DONE]`, or that of its API. */
  done: boolean;
  /** The error code of an event that reports a failure. */
  error: string | null;
  /** Milliseconds since 1970; null: the event has no time. */
  sentAt: number | null;
}

export class EventReader {
  #rest = "";

  /** The events that end within these bytes, without comments. */
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

/** @returns where the value of its data begins; -1: it has no data */
function valueIn(event: string): number {
  const before = event.startsWith(dataField) ? 0 : event.indexOf(`\n${dataField}`);
  if (before === -1) return -1;
  const value = event.indexOf(dataField, before) + dataField.length;
  return event[value] === " " ? value + 1 : value;
}

function eventOf(text: string, value: number): StreamEvent {
  const failed = text.startsWith('{"error":', value);
  const error = failed ? (/"code": ?"([^"]*)"/.exec(text)?.[1] ?? "error") : null;
  const done = text.startsWith("[DONE]", value) || lastEvent.test(text);
  return { done, error, sentAt: sentAtOf(text) };
}

function sentAtOf(text: string): number | null {
  const end = text.lastIndexOf(sign);
  const start = end - timeLength;
  if (text[start - 1] !== sign) return null;
  const time = Number(text.slice(start, end));
  return Number.isNaN(time) ? null : time;
}

/** Milliseconds since 1970, more exact than Date.now, for comparisons between processes of one machine. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}

/** The mark with the present time that `EventReader` finds. */
export function sentMark(): string {
  return sign + preciseNow().toFixed(3) + sign;
}
