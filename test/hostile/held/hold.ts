/** Sends hostile texts to everything that takes a text, and watches the thread. */
import { dirname } from "node:path";
import { collectFrom } from "../../../scripts/expressions/collect.ts";
import { type Expression, keyOf } from "../../../scripts/expressions/expression.ts";
import { Dice } from "../bodies/dice.ts";
import { hostileTexts } from "./hostile-texts.ts";
import { sinks } from "./sinks.ts";
import { heldMs, heldMsMax } from "./thread-time.ts";

export interface Held {
  runs: number;
  longestMs: number;
  /** What held the thread for too long, or failed in a way that is ours. */
  problems: string[];
}

interface Plan {
  seed: number;
  /** One text of an expression is sent to one of so many sinks: chance decides which. */
  oneTextIn: number;
  /** Places in a sink where each text is put. */
  runsEach: number;
}

const root = dirname(dirname(dirname(import.meta.dir)));
const problemsMax = 20;

/** Each expression once. */
export function ownExpressions(): Expression[] {
  const { expressions } = collectFrom(root, ["src", "workers"]);
  return [...new Map(expressions.map((one) => [keyOf(one), one])).values()];
}

export function holdThread({ seed, oneTextIn, runsEach }: Plan): Held {
  const dice = new Dice(seed);
  const held: Held = { runs: 0, longestMs: 0, problems: [] };
  for (const expression of ownExpressions()) {
    const texts = hostileTexts(expression);
    for (const sink of sinks) {
      const text = dice.oneIn(oneTextIn) ? texts[dice.below(texts.length)] : undefined;
      if (text === undefined || held.problems.length >= problemsMax) continue;
      for (const run of dice.shuffled([...sink.runs(text, dice)]).slice(0, runsEach)) {
        tryRun(run, `seed ${seed}, ${sink.name}: ${keyOf(expression)}, ${JSON.stringify(text(60))}`, held);
      }
    }
  }
  return held;
}

function tryRun(run: () => unknown, name: string, held: Held): void {
  const ms = heldMs(() => {
    try {
      run();
    } catch (error) {
      if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) {
        held.problems.push(`${name}: ${error.stack ?? error.message}`);
      }
    }
  });
  held.runs++;
  held.longestMs = Math.max(held.longestMs, ms);
  if (ms > heldMsMax) held.problems.push(`${name}: held the thread for ${ms.toFixed(0)} ms`);
}
