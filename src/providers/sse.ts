/** Bytes of an event stream to the data of its events, however the network cut them. */
import { createParser } from "eventsource-parser";
import { upstreamEventCharactersMax } from "../limits/constants.ts";

/** An event that grew beyond the bound. */
export class EventTooLargeError extends Error {
  override name = "EventTooLargeError";
}

export interface EventParser {
  /** The data of the events that these bytes complete. @throws EventTooLargeError */
  feed(bytes: Uint8Array): string[];
  /** The stream has ended: the data of a last event that lacked its empty line. */
  end(): string[];
}

/**
 * Follows https://html.spec.whatwg.org/multipage/server-sent-events.html: any line end, comments, several data lines,
 * a byte order mark, characters split between chunks; bytes that are no UTF-8 become U+FFFD. Event names, ids and
 * retry times are left unread, and, unlike the standard, an event cut off by a clean end of the stream counts.
 */
export function eventParser(charactersMax: number = upstreamEventCharactersMax): EventParser {
  const decoder = new TextDecoder();
  let events: string[] = [];
  let tooLarge = false;
  const parser = createParser({
    maxBufferSize: charactersMax,
    onEvent: (event) => events.push(event.data),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") tooLarge = true;
    },
  });
  const feed = (text: string): string[] => {
    parser.feed(text);
    if (tooLarge) throw new EventTooLargeError(`Cannot read an event of more than ${charactersMax} characters`);
    const complete = events;
    events = [];
    return complete;
  };
  return {
    feed: (bytes) => feed(decoder.decode(bytes, { stream: true })),
    end: () => feed(`${decoder.decode()}\n\n`),
  };
}
