/** Makes the body with a given number of a seed, always the same. */
import { randomMutations } from "./random-mutations.ts";
import { Dice } from "./dice.ts";
import type { Mutated } from "./mutated.ts";
import { invalidJson, oversized } from "./invalid-json.ts";
import { validBody } from "./valid-body.ts";
import { wrongFields } from "./wrong-fields.ts";

/** Separates neighbouring numbers, whose first random values would be similar. */
const stride = 2_654_435_761;

export function malformedBody(seed: number, number: number): Mutated {
  const dice = new Dice(Math.imul(seed + 1, stride) + Math.imul(number + 1, stride ^ 0x5bd1e995));
  const body = validBody(dice);
  if (dice.oneIn(400)) return dice.pick(oversized)(body, dice);
  const mutations = dice.pick([wrongFields, invalidJson, randomMutations]);
  return dice.pick(mutations)(body, dice);
}
