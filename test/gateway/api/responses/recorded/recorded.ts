/**
 * What agents and frameworks send, as they were seen: Codex 0.171, the Agents SDKs and the AI SDK. Texts are as long as they were, and say
 * nothing.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Body } from "../../../../support/gateway/check-chat.ts";

export const codexRequests = [
  "codex-compaction",
  "codex-custom-call-back",
  "codex-gpt-5.5",
  "codex-gpt-6-additional-tools",
  "codex-schema",
  "codex-tool-output",
  "codex-unknown-model",
] as const;
export const frameworkRequests = ["agents-js", "agents-python", "ai-sdk-tools"] as const;

/** @param name of a file here */
export function recorded(name: string): Body {
  return filled(JSON.parse(readFileSync(join(import.meta.dirname, `${name}.json`), "utf8"))) as Body;
}

/** Puts words in the place of each `<N characters>`. */
export function filled(value: unknown): unknown {
  if (typeof value === "string") {
    const [, length] = /^<(\d+) characters>$/.exec(value) ?? [];
    return length === undefined ? value : "word ".repeat(Math.ceil(Number(length) / 5)).slice(0, Number(length));
  }
  if (Array.isArray(value)) return value.map(filled);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one)]));
}
