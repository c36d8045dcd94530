import { Buffer } from "node:buffer";
import { describe, expect, spyOn, test } from "bun:test";
import fc from "fast-check";
import { EventParser, EventTooLargeError } from "../../../../src/gateway/providers/transport/events.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** The events of a stream that arrives in these chunks and then ends. */
function read(...chunks: Uint8Array[]): string[] {
  const parser = new EventParser();
  return [...chunks.flatMap((chunk) => parser.feed(chunk)), ...parser.end()];
}

describe("an event stream", () => {
  const streams: [string, string, string[]][] = [
    ["of ordinary events", "data: one\n\ndata: two\n\n", ["one", "two"]],
    ["with CRLF", "data: one\r\n\r\ndata: two\r\n\r\n", ["one", "two"]],
    ["with CR alone", "data: one\r\rdata: two\r\r", ["one", "two"]],
    ["without the space after data:", "data:one\n\ndata:{}\n\n", ["one", "{}"]],
    ["with comments", ": OPENROUTER PROCESSING\n\ndata: one\n: and more\n\n", ["one"]],
    ["with a byte order mark", "\uFEFFdata: one\n\n", ["one"]],
    ["with several data lines", "data: one\ndata: two\n\n", ["one\ntwo"]],
    ["with event names, ids and retry times", "event: x\nid: 7\nretry: 10\ndata: one\n\n", ["one"]],
    ["with an event named error", "event: error\ndata: no\n\ndata: one\n\n", ['{"error":{"message":"no"}}', "one"]],
    ["with the fields of an error", 'event:error\r\ndata: {"code":1}\r\n\r\n', ['{"error":{"code":1}}']],
    ["with an error under its name", 'data: {"error":{}}\nevent: error\n\n', ['{"error":{}}']],
    ["with a part of an answer named error", 'event: error\ndata: {"choices":[]}\n\n', ['{"choices":[]}']],
    ["with names like that", "event: errors\ndata: one\n\nevents: error\ndata: two\n\n", ["one", "two"]],
    ["with unknown fields", "nonsense: 1\nrubbish\ndata: one\n\n", ["one"]],
    ["with empty data", "data:\n\ndata: \n\n", ["", ""]],
    ["with keep-alives as data", "data: : keepalive\n\n", [": keepalive"]],
    ["whose last event lacks its empty line", "data: one\n\ndata: [DONE]", ["one", "[DONE]"]],
    ["of nothing", "", []],
    ["of blank lines", "\n\n\r\n\r\n", []],
  ];
  test.each(streams)("%s", (_, text, events) => expect(read(bytes(text))).toEqual(events));

  test("is the same for every single split by the network", () => {
    const whole = bytes('\uFEFFdata: {"t":"é😀\u2028"}\r\n\r\n: c\r\ndata: a\ndata:b\r\rdata: [DONE]\n\n');
    const events = read(whole);
    expect(events).toEqual(['{"t":"é😀\u2028"}', "a\nb", "[DONE]"]);
    for (let cut = 0; cut <= whole.length; cut++) expect(read(whole.slice(0, cut), whole.slice(cut))).toEqual(events);
    expect(read(...Array.from(whole, (byte) => Uint8Array.of(byte)))).toEqual(events);
  });

  test("is the same for any number of splits by the network", () => {
    const line = fc.string({ unit: "grapheme", maxLength: 20 }).filter((text) => !/[\r\n]/.test(text));
    const ending = fc.constantFrom("\n", "\r\n", "\r");
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), ending, fc.array(fc.nat(200)), (lines, end, cuts) => {
        const whole = bytes(lines.map((text) => `data: ${text}${end}${end}`).join(""));
        const points = [0, ...cuts.filter((cut) => cut < whole.length), whole.length].toSorted((a, b) => a - b);
        const chunks = points.slice(1).map((point, index) => whole.slice(points[index], point));
        expect(read(...chunks)).toEqual(lines);
      }),
    );
  });

  test("replaces invalid UTF-8 and continues", () => {
    const parts = [bytes("data: a"), Uint8Array.of(0xff, 0xc3), bytes("b\n\ndata: c\n\n")];
    expect(read(...parts)).toEqual(["a\uFFFD\uFFFDb", "c"]);
  });

  test("fails on an event that exceeds the size limit", () => {
    const parser = new EventParser(1_000);
    const feed = () => {
      for (let chunk = 0; chunk < 20; chunk++) parser.feed(bytes("data: " + "x".repeat(100) + (chunk % 2 === 0 ? "" : "\n")));
    };
    expect(feed).toThrow(EventTooLargeError);
  });

  test("counts each byte of an event once, however the network splits it, and no comment", () => {
    const parser = new EventParser(100);
    const pieces = ["data: ", "x".repeat(80), "\n", "data: ", "y", "\n", "\n"];
    expect(pieces.flatMap((piece) => parser.feed(bytes(piece)))).toEqual([`${"x".repeat(80)}\ny`]);
    for (let comment = 0; comment < 100; comment++) for (const piece of [": pi", "ng\n"]) parser.feed(bytes(piece));
    expect(parser.feed(bytes("data: z\n\n"))).toEqual(["z"]);
  });

  test.each(["\r", "\n", "\r\n"])("is searched for line ends once where all of them are %j", (end) => {
    let searched = 0;
    const search = Buffer.prototype.indexOf;
    const spy = spyOn(Buffer.prototype, "indexOf").mockImplementation(function (this: Buffer, ...all: [number, number]) {
      const found = Reflect.apply(search, this, all) as number;
      searched += (found === -1 ? this.length : found) - all[1];
      return found;
    } as typeof search);
    const stream = bytes(`data: x${end}${end}`.repeat(2_000));
    try {
      expect(read(stream)).toHaveLength(2_000);
    } finally {
      spy.mockRestore();
    }
    expect(searched).toBeLessThan(3 * stream.length);
  });

  test("holds at most one event at a time", () => {
    const parser = new EventParser(1_000);
    for (let event = 0; event < 10_000; event++) expect(parser.feed(bytes(`data: ${"x".repeat(500)}\n\n`))).toHaveLength(1);
  });
});
