import { Buffer } from "node:buffer";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { upstreamHeadBytesMax } from "../../../../src/gateway/limits.ts";
import { AnswerReader, MalformedAnswerError, sliceBytes } from "../../../../src/gateway/providers/transport/answer-reader.ts";

interface Read {
  status: number | null;
  headers: Record<string, string>;
  body: string;
  /** null if the response has not ended. */
  keeps: boolean | null;
}

/** Parses these bytes, split at these positions. */
function read(bytes: Buffer, cuts: number[] = [], { closed = false } = {}): Read {
  const seen: Read = { status: null, headers: {}, body: "", keeps: null };
  const reader = new AnswerReader({
    begun: ({ status, headers }) => Object.assign(seen, { status, headers }),
    piece: (piece) => (seen.body += Buffer.from(piece).toString("latin1")),
    ended: (keeps) => (seen.keeps = keeps),
  });
  const points = [0, ...cuts.filter((cut) => cut < bytes.length), bytes.length].toSorted((a, b) => a - b);
  for (const [index, point] of points.slice(1).entries()) {
    if (seen.keeps === null) reader.push(Buffer.from(bytes.subarray(points[index], point)));
  }
  if (closed) reader.closed();
  return seen;
}

const wire = (text: string) => Buffer.from(text.replaceAll("\n", "\r\n"), "latin1");
const chunked = (body: string) => wire(`HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n${body}`);

describe("an answer", () => {
  const answers: [string, Buffer, Partial<Read>][] = [
    ["of a length", wire("HTTP/1.1 200 OK\nContent-Length: 5\n\nhello"), { status: 200, body: "hello", keeps: true }],
    ["of nothing", wire("HTTP/1.1 429 Too Many\nContent-Length: 0\n\n"), { status: 429, body: "", keeps: true }],
    ["without a reason", wire("HTTP/1.1 200\nContent-Length: 1\n\nx"), { status: 200, body: "x" }],
    ["without content", wire("HTTP/1.1 204 No Content\n\n"), { status: 204, body: "", keeps: true }],
    ["in chunks", chunked("5\nhello\nA;ext=1\n, my world\n0\n\n"), { body: "hello, my world", keeps: true }],
    [
      "in chunks whose sizes are told in capitals and with zeros",
      chunked("0000000C\nHello, world\n00\n\n"),
      { body: "Hello, world", keeps: true },
    ],
    ["in chunks with trailers", chunked("1\nx\n0\nDigest: a\nOther: b\n\n"), { body: "x", keeps: true }],
    ["after others that only announce it", wire("HTTP/1.1 100 Continue\n\nHTTP/1.1 103 Early\nLink: x\n\nHTTP/1.1 200 OK\nContent-Length: 1\n\nx"), { status: 200, body: "x" }], // prettier-ignore
    ["that closes its connection", wire("HTTP/1.1 200 OK\nConnection: close\nContent-Length: 1\n\nx"), { keeps: false }],
    ["of HTTP/1.0", wire("HTTP/1.0 200 OK\nContent-Length: 1\n\nx"), { keeps: false }],
    ["of HTTP/1.0 that keeps it", wire("HTTP/1.0 200 OK\nConnection: Keep-Alive\nContent-Length: 1\n\nx"), { keeps: true }],
    [
      "with the same length twice",
      wire("HTTP/1.1 200 OK\nContent-Length: 1\nContent-Length: 1\n\nx"),
      { body: "x", keeps: true },
    ],
    ["followed by bytes nobody asked for", wire("HTTP/1.1 200 OK\nContent-Length: 1\n\nxy"), { body: "x", keeps: false }],
    ["with headers in any case and number", wire("HTTP/1.1 200 OK\nContent-Type: 1\nX-Other: y\ncontent-type:2 \ncontent-LENGTH: 0\n\n"), { headers: { "content-type": "1, 2", "content-length": "0" } }], // prettier-ignore
  ];
  test.each(answers)("%s", (_, bytes, expected) => expect(read(bytes)).toMatchObject(expected));

  test.each(answers.filter(([name]) => !name.includes("nobody")))("%s is the same for every split", (_, bytes, expected) => {
    for (let cut = 0; cut <= bytes.length; cut++) expect(read(bytes, [cut])).toMatchObject(expected);
    expect(
      read(
        bytes,
        Array.from(bytes, (_byte, index) => index),
      ),
    ).toMatchObject(expected);
  });

  test("that is chunked and has a length is chunked, and its connection is not kept", () => {
    const bytes = wire("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nContent-Length: 3\n\n1\nx\n0\n\n");
    expect(read(bytes)).toMatchObject({ body: "x", keeps: false });
  });

  test("without a length lasts until its connection closes", () => {
    const bytes = wire("HTTP/1.1 200 OK\n\nhello");
    expect(read(bytes)).toMatchObject({ body: "hello", keeps: null });
    expect(read(bytes, [], { closed: true })).toMatchObject({ body: "hello", keeps: false });
  });

  test("that is cut off has no end", () => {
    for (const bytes of [wire("HTTP/1.1 200 OK\nContent-Length: 5\n\nhell"), chunked("5\nhello\n")]) {
      expect(read(bytes, [], { closed: true }).keeps).toBeNull();
    }
  });

  test("is the same for any chunks and any splits", () => {
    const piece = fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.array(fc.nat(400)), (pieces, cuts) => {
        const body = pieces.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join("");
        const bytes = Buffer.from(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body}0\r\n\r\n`, "latin1");
        expect(read(bytes, cuts)).toMatchObject({ body: pieces.join(""), keeps: true });
      }),
    );
  });
});

describe("an invalid response is refused", () => {
  test.each([
    ["another protocol", wire("SSH-2.0-OpenSSH_9\n\n")],
    ["another version of it", wire("HTTP/2.0 200 OK\n\n")],
    ["a status that is none", wire("HTTP/1.1 999 OK\nContent-Length: 0\n\n")],
    ["a header without a name", wire("HTTP/1.1 200 OK\n: x\n\n")],
    ["a header that is no header", wire("HTTP/1.1 200 OK\nContent Length: 1\n\nx")],
    ["a folded header", wire("HTTP/1.1 200 OK\nX-A: 1\n  2\nContent-Length: 0\n\n")],
    ["a length that is none", wire("HTTP/1.1 200 OK\nContent-Length: -1\n\n")],
    ["two lengths", wire("HTTP/1.1 200 OK\nContent-Length: 1\nContent-Length: 2\n\nxy")],
    ["a transfer coding that nobody knows", wire("HTTP/1.1 200 OK\nTransfer-Encoding: gzip, chunked\n\n")],
    ["a chunk without a size", chunked("\nx\n0\n\n")],
    ["a chunk of a size that is no number", chunked("0x1\nx\n0\n\n")],
    ["a chunk whose size has nine digits", chunked("000000001\nx\n0\n\n")],
    ["a chunk longer than its size", chunked("1\nxx\n0\n\n")],
    ["a change of protocol", wire("HTTP/1.1 101 Switching Protocols\nUpgrade: x\n\n")],
    ["a head without end", Buffer.alloc(upstreamHeadBytesMax + 1, "x")],
  ])("%s", (_, bytes) => expect(() => read(bytes)).toThrow(MalformedAnswerError));
});

for (const length of [1, 1_000, 1_001, 70_000]) {
  test(`a slice of ${length} bytes equals the bytes between its ends, also if it is empty`, () => {
    const bytes = Buffer.from(Array.from({ length }, (_, at) => at % 251));
    for (const [start, end] of [
      [0, length],
      [length >> 1, length],
      [0, length >> 1],
      [length, length],
    ] as const) {
      expect([...sliceBytes(bytes, start, end)]).toEqual([...bytes].slice(start, end));
    }
  });
}

test("a slice of a small buffer is a copy, so that the buffer gets no view", () => {
  const piece = Buffer.allocUnsafeSlow(300).fill("a");
  const part = sliceBytes(piece, 100, 200);
  piece.fill("b");
  expect(part.toString()).toBe("a".repeat(100));
});
