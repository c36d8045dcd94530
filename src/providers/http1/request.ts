/** A request as it goes over the wire. */
import { Buffer } from "node:buffer";
import type { Post } from "../transport.ts";

const unfit = /[^\t\x20-\x7e]/;

/** @throws TypeError where a header would not stay one line; it names the header, never its value */
export function requestText(url: URL, { headers, body }: Post): string {
  let text = `POST ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n`;
  for (const [name, value] of Object.entries(headers)) {
    if (unfit.test(value)) throw new TypeError(`Cannot send the header "${name}": it holds what no header may`);
    text += `${name}: ${value}\r\n`;
  }
  return `${text}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
