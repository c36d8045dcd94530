/** A stored prompt and its answer. Each field is sealed by itself and bound to its workspace, generation and name. */
import type { GenerationId, WorkspaceId } from "../../kernel/ids.ts";
import type { SealKey } from "../../kernel/seal-key.ts";

/** The fields that are not sealed. `at` is the time of admission in milliseconds. */
export interface PromptIdentity {
  generation: GenerationId;
  workspace: WorkspaceId;
  at: number;
  answerCut: boolean;
}

export interface PlainPrompt extends PromptIdentity {
  messages: Record<string, unknown>[];
  /** null: there was no answer. */
  answer: Record<string, unknown> | null;
}

export interface SealedPrompt extends PromptIdentity {
  messages: Uint8Array;
  answer: Uint8Array | null;
}

export function sealPrompt({ messages, answer, ...head }: PlainPrompt, key: SealKey): SealedPrompt {
  const seal = (field: string, value: unknown): Uint8Array => key.seal(Buffer.from(JSON.stringify(value)), about(head, field));
  return { ...head, messages: seal("messages", messages), answer: answer && seal("answer", answer) };
}

/** @throws SealError when it was sealed with another key or has been changed */
export function openPrompt({ messages, answer, ...head }: SealedPrompt, key: SealKey): PlainPrompt {
  const open = (field: string, blob: Uint8Array) => JSON.parse(Buffer.from(key.open(blob, about(head, field))).toString());
  return { ...head, messages: open("messages", messages), answer: answer && open("answer", answer) };
}

function about({ workspace, generation }: PromptIdentity, field: string): string {
  return JSON.stringify([workspace, generation, field]);
}
