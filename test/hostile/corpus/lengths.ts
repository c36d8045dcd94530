/** Ambiguous ends of a body. Where two servers disagree about the end, a client can smuggle a request past the first. */
import { body, chunked, hidden, honest, lastChunk, post, refused, sized, type Attack } from "./attack.ts";

const length = sized(body);
const both = (coding: string): string => post(length, coding) + body;
const coded = (coding: string): string => post(coding) + chunked(body);

export const lengths: Attack[] = [
  refused("a length and chunks", post(length, "Transfer-Encoding: chunked") + chunked(body)),
  refused("chunks and a length", post("Transfer-Encoding: chunked", "Content-Length: 4") + chunked(body)),
  refused(
    "a request after the last chunk, within the length",
    post(`Content-Length: ${lastChunk.length + hidden.length}`, "Transfer-Encoding: chunked") + lastChunk + hidden,
  ),
  refused("two lengths that differ", post("Content-Length: 5", sized(body + hidden)) + body + hidden),
  refused("two lengths that differ, in one line", post(`Content-Length: 5, ${body.length}`) + body),
  refused("two lengths that agree, in one line", post(`Content-Length: ${body.length}, ${body.length}`) + body),
  honest("two lengths that agree", post(length, length) + body),
  honest("a length with zeros before it", post(`Content-Length: 0000${body.length}`) + body),
  refused("a length with a sign", post(`Content-Length: +${body.length}`) + body),
  refused("a negative length", post("Content-Length: -1") + body),
  refused("a length in hexadecimal", post(`Content-Length: 0x${body.length.toString(16)}`) + body),
  refused("an empty length", post("Content-Length:") + body),
  refused("a length in two parts", post("Content-Length: 1 0") + body),
  refused("a length followed by letters", post(`${length}abc`) + body),
  refused("a length beyond 64 bits", post("Content-Length: 99999999999999999999999") + body),
  refused("a length that is right modulo 2^64", post(`Content-Length: ${(1n << 64n) + BigInt(body.length)}`) + body),
  refused("a length of 2^63 - 1", post("Content-Length: 9223372036854775807") + body),
  refused("a space before the colon of a length", post(`Content-Length : ${body.length}`) + body),
];

export const codings: Attack[] = [
  refused("an unknown coding", coded("Transfer-Encoding: xchunked")),
  refused("identity with a length", both("Transfer-Encoding: identity")),
  refused("an empty coding with a length", both("Transfer-Encoding: ")),
  refused("chunked before another coding", coded("Transfer-Encoding: chunked, identity")),
  refused("another coding before chunked", coded("Transfer-Encoding: gzip, chunked")),
  refused("chunked twice, in one line", coded("Transfer-Encoding: chunked, chunked")),
  refused("chunked twice, in two lines", post("Transfer-Encoding: chunked", "Transfer-Encoding: chunked") + chunked(body)),
  refused(
    "chunked in one line, identity in the next",
    post("Transfer-Encoding: chunked", "Transfer-Encoding: identity") + chunked(body),
  ),
  refused("a vertical tab before chunked", coded("Transfer-Encoding: \x0bchunked")),
  refused("chunked in quotes", coded('Transfer-Encoding: "chunked"')),
  refused("chunked with a parameter", coded("Transfer-Encoding: chunked;q=1")),
  refused("a space before the colon", coded("Transfer-Encoding : chunked")),
  refused("a space before the name", both(" Transfer-Encoding: chunked")),
  refused("a folded line", coded("Transfer-Encoding:\r\n chunked")),
  refused("a length with an empty coding and chunked", both("Transfer-Encoding: ,chunked")),
  refused("a length with chunked after a tab", both("Transfer-Encoding:\tchunked")),
  honest("a tab for a space", coded("Transfer-Encoding:\tchunked")),
  honest("a space at the end", coded("Transfer-Encoding: chunked ")),
  honest("capital letters", coded("Transfer-Encoding: CHUNKED")),
  honest("an empty coding before chunked", coded("Transfer-Encoding: ,chunked")),
  honest("an underscore for a hyphen, which is another header", both("Transfer_Encoding: chunked")),
];
