/** `parallel_tool_calls: false`: a client receives at most one call, whichever recorded answer with several its provider gives. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ChatBody, WireFormat } from "../../../../src/gateway/providers/provider.ts";
import { wireFormats } from "../../../../src/gateway/providers/registry.ts";
import { withParallelToolCallsOff } from "../../../../src/gateway/providers/wire/answers.ts";
import { Transcript } from "../../../support/providers/transcript.ts";

const fixtures = join(import.meta.dir, "../../../fixtures");
const chat: ChatBody = { model: "stub/model", messages: [] };

interface Recorded {
  body?: unknown;
  expected?: { toolCalls?: unknown[] };
  toolCalls?: unknown[];
}

/** The recordings of this kind with several calls. They belong to this repository and have this shape. */
function recordings(format: string, file: "answers" | "streams"): { name: string; body: unknown; calls: unknown[] }[] {
  const all = JSON.parse(readFileSync(join(fixtures, format, `${file}.json`), "utf8")) as Record<string, Recorded>;
  return Object.entries(all)
    .map(([name, { body, expected, toolCalls }]) => ({ name, body, calls: expected?.toolCalls ?? toolCalls ?? [] }))
    .filter(({ calls }) => calls.length > 1);
}

function callsOfStream(format: WireFormat, name: string, stream: string): unknown[] {
  const lines = readFileSync(join(fixtures, name, "streams", `${stream}.chunks.txt`), "utf8")
    .split("\n")
    .slice(0, -1);
  const decode = format.streamDecoder();
  const transcript = new Transcript();
  for (const line of lines) for (const event of decode(line)) transcript.take(event);
  return transcript.toolCalls;
}

const formats = Object.entries(wireFormats).filter(([name]) => name !== "sandbox");

describe.each(formats)("several calls from a provider of the format %s", (name, { format }) => {
  const limits: [boolean | undefined, number | undefined][] = [
    [false, 1],
    [true, undefined],
    [undefined, undefined],
  ];

  describe.each(limits)("with parallel_tool_calls %p", (allowed, count) => {
    const limited = withParallelToolCallsOff(format, { ...chat, ...(allowed !== undefined && { parallel_tool_calls: allowed }) });

    test.each(recordings(name, "answers"))("$name", ({ body, calls }) => {
      expect(limited.decodeAnswer(body).message["tool_calls"]).toEqual(calls.slice(0, count));
    });

    test.each(recordings(name, "streams"))("streamed: $name", ({ name: stream, calls }) => {
      expect(callsOfStream(limited, name, stream)).toEqual(calls.slice(0, count));
    });
  });
});
