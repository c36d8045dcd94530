/** One load by a generator that is started for it and ends with it. */
import { LoadGenerator, type Loaded, type Loading } from "./load-generator.ts";

/** @param words as after `npm run bench -- load`. @throws Error when there is no result */
export async function runLoadProcess(words: string[], loading: Loading = {}): Promise<Loaded> {
  await using generator = new LoadGenerator(loading);
  return await generator.load(words);
}
