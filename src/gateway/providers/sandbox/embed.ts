/** The sandbox's embeddings: vectors of length 1 from a hash of the text, the same for the same text. */
import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { asArray, asCount, asText, type JsonObject } from "../wire/json.ts";
import { sandboxCommand, type SandboxCommand } from "./command.ts";
import { tokenCount } from "./tokens.ts";

/** SHA-512 has as many bytes. */
const dimensionsMax = 64;
const byteMiddle = 127.5;

export interface SandboxEmbeddings {
  command: SandboxCommand;
  body: JsonObject;
}

/** The commands for output have no meaning here. @returns null for a command that is unknown or has none */
export function sandboxEmbeddings(request: JsonObject): SandboxEmbeddings | null {
  const inputs = asArray(request["input"]);
  const command = sandboxCommand(inputs.map(asText).findLast((text) => text?.startsWith("sandbox:")) ?? "");
  if (command === null || command.tokens !== null || command.gapMs > 0) return null;
  const dimensions = Math.min(asCount(request["dimensions"]) ?? dimensionsMax, dimensionsMax);
  const data = inputs.map((input, index) => {
    const vector = vectorOf(JSON.stringify([input, request["input_type"] ?? "document"]), dimensions);
    return { object: "embedding", index, embedding: Buffer.from(vector.buffer).toString("base64") };
  });
  const counted = inputs.reduce<number>((sum, input) => sum + countOf(input), 0);
  const tokens = command.usage?.input ?? counted;
  const usage = command.noUsage ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } };
  return { command, body: { object: "list", model: request["model"], data, ...usage } };
}

function vectorOf(text: string, dimensions: number): Float32Array {
  const bytes = hash("sha512", text, "buffer").subarray(0, dimensions);
  const length = Math.hypot(...[...bytes].map((byte) => byte - byteMiddle));
  return Float32Array.from(bytes, (byte) => (byte - byteMiddle) / length);
}

function countOf(input: unknown): number {
  return typeof input === "string" ? tokenCount(input) : asArray(input).length;
}
