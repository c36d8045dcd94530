/** Invalid chunks, and chunks with extensions. */
import {
  body,
  chunk,
  chunked,
  chunkedPost,
  hidden,
  honest,
  abandoned,
  lastChunk,
  refused,
  sizeOf,
  type Attack,
} from "./attack.ts";

const size = sizeOf(body);
const sizeLine = (line: string): string => `${chunkedPost}${line}\r\n${body}\r\n${lastChunk}`;

export const chunks: Attack[] = [
  refused("a size beyond 64 bits", sizeLine("FFFFFFFFFFFFFFFFF")),
  refused("a size of 2^64 - 1", sizeLine("FFFFFFFFFFFFFFFF")),
  refused("a size of 2^63 - 1", sizeLine("7FFFFFFFFFFFFFFF")),
  refused("a negative size", sizeLine("-1")),
  refused("a size with a sign", sizeLine(`+${size}`)),
  refused("a size with 0x", sizeLine(`0x${size}`)),
  refused("a size that is not a number", sizeLine("g")),
  refused("no size", sizeLine("")),
  refused("a space before the size", sizeLine(` ${size}`)),
  refused("a space after the size", sizeLine(`${size} `)),
  honest("a size with leading zeros", sizeLine(`${"0".repeat(40)}${size}`)),
  honest("an extension", sizeLine(`${size};a=b`)),
  honest("an extension whose quote is not closed: it ends with its line", sizeLine(`${size};a="`)),
  refused("a bare line feed in an extension", sizeLine(`${size};a\nb`)),
  { name: "an extension of 100,000 bytes", sends: [sizeLine(`${size};${"a".repeat(100_000)}`)], answers: [413], closes: true },
  refused("no line end after a chunk", `${chunkedPost}${size}\r\n${body}${lastChunk}`),
  refused("other bytes for the line end after a chunk", `${chunkedPost}${size}\r\n${body}XX${lastChunk}`),
  refused("bare line feeds", chunkedPost + chunked(body).replaceAll("\r\n", "\n")),
  refused("bare carriage returns", `${chunkedPost}${size}\r${body}\r0\r\r`),
  abandoned(refused("a trailer", `${chunkedPost}${chunk(body)}0\r\nX-Trailer: 1\r\n\r\n`)),
  abandoned(refused("a trailer that would change the length", `${chunkedPost}${chunk(body)}0\r\nContent-Length: 5\r\n\r\n`)),
  abandoned(refused("a request for a trailer", `${chunkedPost}${chunk(body)}0\r\n${hidden}`)),
  // Bun answers when the last chunk's size has arrived. SECURITY.md describes what a proxy that forwards trailers sees.
  {
    name: "a trailer that comes after the answer",
    sends: [`${chunkedPost}${chunk(body)}0\r\n`, "X-Trailer: 1\r\n\r\n"],
    answers: [200, 400],
    closes: true,
    charged: 1,
  },
];
