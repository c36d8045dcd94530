/** Texts and bodies that are made to hold the event loop. */
import { Dice } from "../bodies/dice.ts";
import { holdThread } from "../held/hold.ts";
import { holdService } from "../held/served.ts";
import { heldMsMax } from "../held/thread-time.ts";
import type { PartOptions } from "./part.ts";

export async function heldPart({ seed, say }: PartOptions): Promise<string[]> {
  const texts = holdThread({ seed, oneTextIn: 1, runsEach: 4 });
  say(`${texts.runs} texts of seed ${seed}: the longest held the thread for ${texts.longestMs.toFixed(0)} ms of ${heldMsMax}`);
  const requests = await holdService(new Dice(seed), 1);
  say(`${requests.runs} requests: the longest held the event loop for ${requests.longestMs.toFixed(0)} ms of ${heldMsMax}`);
  return [...texts.problems, ...requests.problems];
}
