/**
 * The wire formats of providers, each with its recorded answers (test/fixtures/<format>). A new format of the registry is tested
 * here without further code.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ErrorCode } from "../../src/kernel/errors.ts";
import type { ReportedUsage } from "../../src/gateway/models/model.ts";
import { wireFormats } from "../../src/gateway/providers/registry.ts";
import { json, rawStream, text, type StubAnswer } from "../support/providers/stub-answers.ts";

export interface ToldCall {
  id: string;
  name: string;
  arguments: string;
}

export interface WholeCase {
  name: string;
  answer: StubAnswer;
  expected: {
    content: string | null;
    refusal: string | null;
    finishReason: string;
    usage: ReportedUsage | null;
    toolCalls?: { id: string; type: string; function: { name: string; arguments: string } }[];
  } | null;
  /** Weir's error code when there is no answer. */
  failure: ErrorCode | null;
}

export interface StreamCase {
  name: string;
  answer: StubAnswer;
  text: string;
  refusal: string;
  finishReason: string | null;
  usage: ReportedUsage | null;
  failure: ErrorCode | null;
  toolCalls: ToldCall[];
}

export interface ErrorCase {
  name: string;
  answer: StubAnswer;
  code: ErrorCode;
  hint: string | null;
}

export interface Upstream {
  name: string;
  whole: WholeCase[];
  streams: StreamCase[];
  errors: ErrorCase[];
}

const fixtures = join(import.meta.dir, "../fixtures");

export const upstreams: Upstream[] = Object.keys(wireFormats)
  .filter((name) => name !== "sandbox")
  .map((name) => ({ name, whole: wholeCases(name), streams: streamCases(name), errors: errorCases(name) }));

/** The first recorded answer of this kind. */
export function first<Case extends { name: string }>(cases: Case[], is: (one: Case) => boolean): Case {
  const found = cases.find(is);
  if (found === undefined) throw new Error("No recorded answer is of the requested kind");
  return found;
}

/** The first of each kind. */
export function oneOfEachKind<Case>(cases: Case[], kindOf: (one: Case) => string): Case[] {
  return [...new Map(cases.toReversed().map((one) => [kindOf(one), one])).values()];
}

export const kindOfAnswer = ({ expected, failure }: WholeCase): string =>
  JSON.stringify([
    failure,
    expected?.finishReason,
    !expected?.content,
    !expected?.refusal,
    expected?.usage === null,
    expected?.toolCalls?.length,
  ]);

export const kindOfStream = ({ failure, finishReason, text, refusal, usage, toolCalls }: StreamCase): string =>
  JSON.stringify([failure, finishReason, text === "", refusal === "", usage === null, toolCalls.length]);

function wholeCases(format: string): WholeCase[] {
  const cases = fixture<Record<string, { body: unknown; expected?: WholeCase["expected"]; failure?: ErrorCode }>>(
    format,
    "answers.json",
  );
  return Object.entries(cases).map(([name, { body, expected = null, failure = null }]) => ({
    name,
    answer: json(body),
    expected,
    failure,
  }));
}

function streamCases(format: string): StreamCase[] {
  const cases = fixture<Record<string, Partial<StreamCase>>>(format, "streams.json");
  const nothing = { text: "", refusal: "", finishReason: null, usage: null, failure: null, toolCalls: [] };
  return Object.entries(cases).map(([name, expected]) => ({ ...nothing, ...expected, name, answer: streamOf(format, name) }));
}

/** One event for each recorded line. */
function streamOf(format: string, name: string): StubAnswer {
  const lines = readFileSync(join(fixtures, format, "streams", `${name}.chunks.txt`), "utf8")
    .split("\n")
    .slice(0, -1);
  return rawStream(...lines.map((line) => `data: ${line}\n\n`));
}

function errorCases(format: string): ErrorCase[] {
  const cases = fixture<{ name: string; status: number; body: string; code: ErrorCode; hint?: string }[]>(format, "errors.json");
  return cases.map(({ name, status, body, code, hint = null }) => ({ name, answer: text(body, { status }), code, hint }));
}

/** The recordings belong to this repository and have the caller's shape. */
function fixture<Shape>(format: string, file: string): Shape {
  return JSON.parse(readFileSync(join(fixtures, format, file), "utf8")) as Shape;
}
