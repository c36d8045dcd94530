/** Writes a request as its bytes on the wire. */
import { Buffer } from "node:buffer";
import type { Post } from "../transport.ts";

/** What all requests to one URL share. */
interface Destination {
  origin: string;
  /** Request line and host. */
  beginning: string;
}

/** A URL object computes its parts on each access, so they are kept. */
const destinations = new WeakMap<URL, Destination>();

/** @param url must not change afterwards */
export function destinationOf(url: URL): Destination {
  const known = destinations.get(url);
  if (known) return known;
  const beginning = `POST ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n`;
  const made = { origin: url.origin, beginning };
  destinations.set(url, made);
  return made;
}

const unfit = /[^\t\x20-\x7e]/;

/** The headers that every request has, by what it accepts. One text, since joining many short ones costs more than the rest. */
const commonLines = {
  "application/json": linesFor("application/json"),
  "text/event-stream": linesFor("text/event-stream"),
};

function linesFor(accept: string): string {
  return `content-type: application/json\r\naccept: ${accept}\r\naccept-encoding: identity\r\nuser-agent: weir\r\n`;
}

/** @throws TypeError if a header has a line break; the message names the header, never its value */
export function requestText({ beginning }: Destination, { accept = "application/json", headers, body }: Post): string {
  let text = beginning + commonLines[accept];
  for (const name in headers) {
    const value = headers[name] ?? "";
    if (unfit.test(value)) throw new TypeError(`Cannot send the header "${name}": it holds what no header may`);
    text += `${name}: ${value}\r\n`;
  }
  return `${text}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
