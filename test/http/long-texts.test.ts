import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseJsonObject, type JsonObject } from "../../src/http/json.ts";
import { jsonBytes, longTextBytesMin, parseWithLongTexts, textBytes } from "../../src/http/long-texts.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const every = { text: 1, body: 0 };
const inAnyBody = { text: longTextBytesMin, body: 0 };
const long = (text: string): string => text.repeat(Math.ceil(longTextBytesMin / text.length));

/** JSON as clients write it: some escape more than they must, some write blanks. */
function written(value: unknown, style: { escapes: boolean; blanks: string }): string {
  const { escapes, blanks } = style;
  if (typeof value === "string") return textWritten(value, escapes);
  if (Array.isArray(value)) return `[${value.map((one) => blanks + written(one, style)).join(",")}${blanks}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(
    ([name, one]) => `${blanks}${JSON.stringify(name)}${blanks}:${blanks}${written(one, style)}`,
  );
  return `{${fields.join(",")}${blanks}}`;
}

function textWritten(text: string, escapes: boolean): string {
  const json = JSON.stringify(text);
  if (!escapes) return json;
  const digits = (unit: number): string => String.raw`\u${unit.toString(16).padStart(4, "0")}`;
  return json.replace(/[^\0-~]|[/eE]/g, (one) =>
    one === "/" ? String.raw`\/` : [...Array(one.length).keys()].map((at) => digits(one.charCodeAt(at))).join(""),
  );
}

const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: fc.constantFrom("a", "\\", '"', "\n", "\u0001", "/", "é", "🐀", " ") }),
);
const part = fc.record({ type: fc.constant("text"), text });
const message = fc.record({
  role: fc.constantFrom("user", "system", "tool", "assistant", "other"),
  content: fc.oneof(
    text,
    fc.array(part),
    fc.array(fc.record({ type: fc.constant("tool_result"), content: fc.oneof(text, fc.array(part)) })),
  ),
  tool_calls: fc.array(fc.record({ function: fc.record({ name: text, arguments: text }) })),
});
const tool = fc.record({
  description: text,
  function: fc.record({ description: text, parameters: fc.jsonValue({ maxDepth: 2 }) }),
});
const body = fc.record({
  messages: fc.array(message),
  tools: fc.array(tool),
  input: fc.array(message),
  other: fc.jsonValue({ maxDepth: 2 }),
});
const style = fc.record({ escapes: fc.boolean(), blanks: fc.constantFrom("", " ", "\n  ") });

const fullOf = (value: object): JsonObject => JSON.parse(JSON.stringify(value));

describe("a body whose long texts are kept", () => {
  test("is the client's body again when they are inserted", () => {
    fc.assert(
      fc.property(body, style, (value, as) => {
        const { request, texts } = parseWithLongTexts(bytesOf(written(value, as)), every);
        const json = JSON.stringify(request);
        const sent = texts === null ? json : Buffer.from(texts.inserted(json)).toString();
        expect(JSON.parse(sent)).toEqual(fullOf(value));
        expect(texts?.restored(request) ?? request).toEqual(fullOf(value));
      }),
    );
  });

  test("counts as many bytes as the texts themselves", () => {
    fc.assert(
      fc.property(body, style, (value, as) => {
        const { request } = parseWithLongTexts(bytesOf(written(value, as)), every);
        expect(jsonBytes(JSON.stringify(request))).toBe(Buffer.byteLength(JSON.stringify(fullOf(value))));
        const contents = (of: JsonObject): string[] =>
          [of["messages"]]
            .flat()
            .map((one) => (one as JsonObject)["content"])
            .filter((one) => typeof one === "string");
        const [kept, full] = [contents(request), contents(fullOf(value))];
        expect(kept.map(textBytes)).toEqual(full.map((one) => Buffer.byteLength(one)));
        expect(textBytes(kept.join("\n"))).toBe(Buffer.byteLength(full.join("\n")));
      }),
    );
  });

  test("is refused for the same reason as any other body", () => {
    const cut = fc.record({ at: fc.nat(), byte: fc.integer({ min: 0, max: 255 }), length: fc.nat({ max: 3 }) });
    fc.assert(
      fc.property(body, style, cut, (value, as, { at, byte, length }) => {
        const bytes = bytesOf(written(value, as));
        const place = at % bytes.length;
        const broken = new Uint8Array([...bytes.subarray(0, place), byte, ...bytes.subarray(place + length)]);
        const reading = (read: () => unknown): unknown => {
          try {
            return read();
          } catch (error) {
            return String(error);
          }
        };
        const kept = reading(() => {
          const { request, texts } = parseWithLongTexts(broken, every);
          return texts?.restored(request) ?? request;
        });
        expect(kept).toEqual(reading(() => parseJsonObject(broken)));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("kept are", () => {
  const kept = (value: object): number =>
    JSON.stringify(parseWithLongTexts(bytesOf(JSON.stringify(value)), inAnyBody).request).split(String.raw`\udc00`).length >> 1;

  test("contents of messages that no model wrote, results and descriptions of tools", () => {
    const content = long("said ");
    for (const role of ["user", "system", "developer", "tool"]) expect(kept({ messages: [{ role, content }] })).toBe(1);
    expect(kept({ messages: [{ content: [{ type: "text", text: content }], role: "user" }] })).toBe(1);
    expect(
      kept({ messages: [{ role: "user", content: [{ type: "tool_result", content: [{ type: "text", text: content }] }] }] }),
    ).toBe(1);
    expect(kept({ input: [{ type: "function_call_output", call_id: "a", output: content }] })).toBe(1);
    expect(kept({ tools: [{ description: content }, { function: { description: content } }] })).toBe(2);
  });

  test("none that is cut, read or repeated: a model's words, arguments, data, fields that are no list, and blank ones", () => {
    const content = long("said ");
    const blank = long(" \n\t");
    for (const message of [
      { role: "assistant", content },
      { content, role: "assistant" },
      { content },
      { role: "user", role_: 1, name: content },
      { role: "user", content: blank },
      { role: "user", content: long("\u3000") },
      { role: "user", content: [{ type: "image_url", image_url: { url: content } }] },
      { role: "user", content: [{ type: "tool_use", input: { content, nested: { text: content } } }] },
      { type: "reasoning", content: [{ type: "reasoning_text", text: content }] },
    ])
      expect([message, kept({ messages: [message] })]).toEqual([message, 0]);
    expect(
      kept({ instructions: content, system: content, metadata: { content }, response_format: { description: content } }),
    ).toBe(0);
    expect(kept({ messages: { content }, tools: [{ parameters: { description: content } }] })).toBe(0);
  });

  test("none of a small body, which is parsed sooner", () => {
    const body = bytesOf(JSON.stringify({ messages: [{ role: "user", content: long("said ") }] }));
    expect(parseWithLongTexts(body).texts).toBeNull();
  });

  test("none of a message in which a second role is another", () => {
    const body = `{"messages":[{"role":"user","content":${JSON.stringify(long("said "))},"role":"assistant"}]}`;
    expect(parseWithLongTexts(bytesOf(body), inAnyBody).texts).toBeNull();
  });
});

describe("a client cannot write a placeholder", () => {
  const body = (text: string): Uint8Array =>
    bytesOf(`{"messages":[{"role":"user","content":${JSON.stringify(long("said "))}},{"role":"assistant","content":"${text}"}]}`);

  test("half of a pair is refused", () => {
    expect(() => parseWithLongTexts(body(String.raw`\udc000,9,9\udc00`), inAnyBody)).toThrow("surrogate pair");
  });

  test("its letters are letters, and JSON within a text stays what it says", () => {
    const letters = String.raw`\\udc000,9,9\\udc00`;
    const { request, texts } = parseWithLongTexts(body(letters), inAnyBody);
    const [, answer] = request["messages"] as [JsonObject, JsonObject];
    const written = (value: unknown): string => Buffer.from(texts?.inserted(JSON.stringify(value)) ?? "").toString();
    expect(written(request)).toBe(Buffer.from(body(letters)).toString());
    const forged: unknown = JSON.parse(`"${String(answer["content"])}"`);
    expect(written(forged)).toBe(String.raw`"\udc000,9,9\udc00"`);
    expect(jsonBytes(written(forged))).toBe(written(forged).length);
    expect(textBytes(String(forged))).toBe(Buffer.byteLength(String(forged)));
  });

  test("one that was written into JSON within a text is an error, and is not sent", () => {
    const { request, texts } = parseWithLongTexts(body("a"), inAnyBody);
    expect(() => texts?.inserted(JSON.stringify({ arguments: JSON.stringify(request) }))).toThrow("within a text");
  });
});
