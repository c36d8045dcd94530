/** Body number so and so of a seed: the same for ever. */
import { anything } from "./anything.ts";
import { Dice } from "./dice.ts";
import type { Mutated } from "./mutated.ts";
import { noJson, tooMuch } from "./no-json.ts";
import { validBody } from "./valid-body.ts";
import { wrongFields } from "./wrong-fields.ts";

/** Parts neighbours, whose first draws would be alike. */
const stride = 2_654_435_761;

export function malformedBody(seed: number, number: number): Mutated {
  const dice = new Dice(Math.imul(seed + 1, stride) + Math.imul(number + 1, stride ^ 0x5bd1e995));
  const body = validBody(dice);
  if (dice.oneIn(400)) return dice.pick(tooMuch)(body, dice);
  const mutations = dice.pick([wrongFields, noJson, anything]);
  return dice.pick(mutations)(body, dice);
}
