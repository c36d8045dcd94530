/** A stored prompt, as a gateway stores it in a workspace that stores prompts. */
import { PromptQueue } from "../../../src/gateway/prompts/prompt-queue.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import type { Control } from "../control.ts";

interface StoredPrompt {
  generation: string;
  workspace: string;
  messages?: Record<string, unknown>[];
  parameters?: Record<string, unknown>;
  answer?: Record<string, unknown>;
  answerCut?: boolean;
}

export async function storePrompt(
  { messages = [], parameters = {}, answer = {}, answerCut = false, ...of }: StoredPrompt,
  { keyring, clock, parts: { sql } }: Control,
): Promise<void> {
  const queue = new PromptQueue({ sql, keyring, clock, log: silentLog });
  queue.add({ ...of, at: clock.now(), messages, parameters, answer, answerCut }, 100);
  await queue.flushed(10_000);
}
