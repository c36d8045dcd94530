/**
 * A stored prompt and its answer. Each field is sealed separately and bound to its workspace, generation and name, so that a row or a field
 * that is moved does not open. Opened data keys are cached, which saves a look-up for each prompt; a data key never changes, only the key
 * that seals it.
 */
import { LRUCache } from "lru-cache";
import { dataKeyOf, type DataKeySources } from "../../accounts/secrets/data-key.ts";
import type { GenerationId, WorkspaceId } from "../../kernel/ids.ts";
import type { SealKey } from "../../kernel/seal-key.ts";
import { dataKeysCachedMax } from "./limits.ts";

/** The fields that are not sealed. `at` is the time of admission in milliseconds. */
interface PromptIdentity {
  generation: GenerationId;
  workspace: WorkspaceId;
  at: number;
  answerCut: boolean;
}

export interface PlainPrompt extends PromptIdentity {
  messages: Record<string, unknown>[];
  /** The other fields of the request as a chat completion, such as tools. */
  parameters: Record<string, unknown>;
  /** null: there was no answer. */
  answer: Record<string, unknown> | null;
}

export interface SealedPrompt extends PromptIdentity {
  messages: Uint8Array;
  /** null: none was set. */
  parameters: Uint8Array | null;
  answer: Uint8Array | null;
}

export function sealPrompt({ messages, parameters, answer, ...head }: PlainPrompt, key: SealKey): SealedPrompt {
  const seal = (field: string, value: unknown): Uint8Array => key.seal(Buffer.from(JSON.stringify(value)), about(head, field));
  return {
    ...head,
    messages: seal("messages", messages),
    parameters: Object.keys(parameters).length === 0 ? null : seal("parameters", parameters),
    answer: answer && seal("answer", answer),
  };
}

/** @throws SealError when it was sealed with another key or has been changed */
export function openPrompt({ messages, parameters, answer, ...head }: SealedPrompt, key: SealKey): PlainPrompt {
  const open = (field: string, blob: Uint8Array) => JSON.parse(Buffer.from(key.open(blob, about(head, field))).toString());
  return {
    ...head,
    messages: open("messages", messages),
    parameters: parameters === null ? {} : open("parameters", parameters),
    answer: answer && open("answer", answer),
  };
}

/** Opened data keys of workspaces. */
export class DataKeyCache {
  readonly #keys = new LRUCache<WorkspaceId, SealKey>({ max: dataKeysCachedMax });
  readonly #sources: DataKeySources;

  constructor(sources: DataKeySources) {
    this.#sources = sources;
  }

  /** A workspace's data key never changes, only the key that seals it. @throws SealError when the keyring cannot unseal it */
  async get(workspace: WorkspaceId): Promise<SealKey> {
    const known = this.#keys.get(workspace);
    if (known) return known;
    const key = await dataKeyOf(workspace, this.#sources);
    this.#keys.set(workspace, key);
    return key;
  }
}

function about({ workspace, generation }: PromptIdentity, field: string): string {
  return JSON.stringify([workspace, generation, field]);
}
