/** Runs one load in a new generator process. */
import { LoadGenerator, type Loaded, type Loading } from "./load-generator.ts";

/** @param words the arguments of `npm run bench -- load`. @throws Error without a result */
export async function runLoadProcess(words: string[], loading: Loading = {}): Promise<Loaded> {
  await using generator = new LoadGenerator(loading);
  return await generator.load(words);
}
