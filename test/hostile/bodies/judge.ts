/** Checks that the specification allows an answer to a body. */
import { Value } from "@sinclair/typebox/value";
import { Type } from "@sinclair/typebox";
import { errorTable } from "../../../src/kernel/errors.ts";
import type { Mutated } from "./mutated.ts";

export interface Answer {
  status: number;
  text: string;
}

const shape = Type.Object(
  {
    error: Type.Object(
      {
        message: Type.String({ minLength: 1 }),
        type: Type.String(),
        code: Type.Union(
          (["invalid_request", "unsupported_parameter", "model_not_found", "request_too_large"] as const).map((code) =>
            Type.Literal(code),
          ),
        ),
        param: Type.Union([Type.String(), Type.Null()]),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);

/** @returns the problem; null: the answer is right */
export function problemOf(sent: Mutated, { status, text }: Answer): string | null {
  if (status === 200) return sent.expected === null ? unfinished(text) : `200 instead of ${JSON.stringify(sent.expected)}`;
  const body = parsed(text);
  if (!Value.Check(shape, body)) return `${status} in a form that is not the specification's: ${text.slice(0, 200)}`;
  const { code, param, type } = body.error;
  if (status !== errorTable[code].status || type !== errorTable[code].type) return `${code} with ${status} and ${type}`;
  const { expected } = sent;
  if (expected !== null)
    return expected.code === code && expected.param === param ? null : `${text} instead of ${JSON.stringify(expected)}`;
  return param === null || names(param, sent.bytes) ? null : `"${param}" is not in the body`;
}

function unfinished(text: string): string | null {
  if (text.endsWith("data: [DONE]\n\n")) return text.includes('"error":') ? "an error in a stream" : null;
  return text.startsWith('{"id":"gen-') && parsed(text) !== undefined
    ? null
    : `200 with an incomplete answer: ${text.slice(0, 200)}`;
}

/** Whether a param is the path of a field that was sent, or that is missing. */
function names(param: string, bytes: Uint8Array): boolean {
  const body = parsed(new TextDecoder().decode(bytes));
  if (typeof body !== "object" || body === null) return false;
  const sent = ["model", "messages", ...Object.keys(body)].map((name) => (name.length > 100 ? `${name.slice(0, 100)}…` : name));
  return sent.some((name) => param === name || param.startsWith(`${name}.`) || param.startsWith(`${name}[`));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
