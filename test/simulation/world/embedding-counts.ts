/** How many tokens a provider counts for the texts of an embeddings request, computed independently of Weir's code. */
import type { EmbeddingInputs } from "../../../src/gateway/providers/embedding.ts";
import type { Chance } from "../chance.ts";

/** Of the model `acme/embed`. */
const contextLength = 300;
const hiddenTokens = 64;

interface InputsCount {
  /** null: it reports none. */
  promptTokens: number | null;
  /** The count is possible, so it is charged. */
  isPossible: boolean;
  isAboveBound?: true;
}

/** Counts within the bounds of the inputs, except for a few requests where it counts more, or nothing. */
export function countInputs(inputs: EmbeddingInputs, chance: Chance): InputsCount {
  const lengths = lengthsOf(inputs);
  const possible = lengths.length * contextLength + hiddenTokens;
  const bound = lengths.reduce((sum, bytes) => sum + Math.min(bytes + 16, contextLength), hiddenTokens);
  if (chance.happens(0.05)) return { promptTokens: chance.pick([null, 0, possible + 1]), isPossible: false };
  if (chance.happens(0.02) && bound < possible)
    return { promptTokens: chance.between(bound + 1, possible), isPossible: true, isAboveBound: true };
  return { promptTokens: chance.happens(0.4) ? bound : chance.between(1, bound), isPossible: true };
}

/** What is charged where the provider reports no possible count. The texts are runs of one letter. */
export function estimateInputs(inputs: EmbeddingInputs): number {
  return lengthsOf(inputs).reduce((sum, letters) => sum + Math.min(estimateRun(letters), contextLength), 0);
}

/** A word is a token and a thirtieth for each further letter. Beyond nine letters it is not a word, and each adds a sixth. */
function estimateRun(letters: number): number {
  return Math.round((60 + 2 * (letters - 1) + 10 * Math.max(0, letters - 9)) / 60);
}

function lengthsOf(inputs: EmbeddingInputs): number[] {
  if (inputs.kind !== "texts") throw new Error("The simulation sends texts");
  return inputs.texts.map((text) => text.length);
}
