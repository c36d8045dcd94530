/** Texts and bodies that are made to block the event loop. */
import { Dice } from "../bodies/dice.ts";
import { blockThread } from "../blocking/block-thread.ts";
import { blockService } from "../blocking/block-service.ts";
import { blockedMsMax } from "../blocking/thread-time.ts";
import type { PartOptions } from "./part.ts";

export async function blockingPart({ seed, say }: PartOptions): Promise<string[]> {
  const texts = blockThread({ seed, oneTextIn: 1, runsEach: 4 });
  say(
    `${texts.runs} texts of seed ${seed}: the longest blocked the thread for ${texts.longestMs.toFixed(0)} ms of ${blockedMsMax}`,
  );
  const requests = await blockService({ dice: new Dice(seed), oneIn: 1, msMax: blockedMsMax });
  say(`${requests.runs} requests: the longest blocked the event loop for ${requests.longestMs.toFixed(0)} ms of ${blockedMsMax}`);
  return [...texts.problems, ...requests.problems];
}
