/** Sends hostile texts to every function that takes a text, and measures how long they block the thread. */
import { dirname } from "node:path";
import { collectFrom, type Expression, keyOf } from "../../../scripts/expressions/collect.ts";
import { Dice } from "../bodies/dice.ts";
import { hostileTexts, type HostileText } from "./hostile-texts.ts";
import { sinks } from "./sinks.ts";
import { blockedMs, blockedMsMax } from "./thread-time.ts";

export interface BlockingResult {
  runs: number;
  longestMs: number;
  /** Texts that blocked the thread for too long, or that caused an error in Weir's code. */
  problems: string[];
}

interface Plan {
  seed: number;
  /** Each expression's text is sent to one in this many sinks, chosen at random. */
  oneTextIn: number;
  /** In how many places of a sink each text is tried. */
  runsEach: number;
}

const root = dirname(dirname(dirname(import.meta.dir)));
const problemsMax = 20;

let own: Map<Expression, HostileText[]> | null = null;

/** Weir's regular expressions, each once, and the texts that are slow for it. To read all source files takes seconds of CPU time. */
export function ownExpressions(): Map<Expression, HostileText[]> {
  return (own ??= collectOwn());
}

function collectOwn(): Map<Expression, HostileText[]> {
  const { expressions } = collectFrom(root, ["src", "workers"]);
  const distinct = new Map(expressions.map((one) => [keyOf(one), one])).values();
  return new Map(distinct.map((one) => [one, hostileTexts(one)]));
}

export function blockThread({ seed, oneTextIn, runsEach }: Plan): BlockingResult {
  const dice = new Dice(seed);
  const result: BlockingResult = { runs: 0, longestMs: 0, problems: [] };
  for (const [expression, texts] of ownExpressions()) {
    for (const sink of sinks) {
      const text = dice.oneIn(oneTextIn) ? texts[dice.below(texts.length)] : undefined;
      if (text === undefined || result.problems.length >= problemsMax) continue;
      for (const run of dice.shuffled([...sink.runs(text, dice)]).slice(0, runsEach)) {
        tryRun(run, `seed ${seed}, ${sink.name}: ${keyOf(expression)}, ${JSON.stringify(text(60))}`, result);
      }
    }
  }
  return result;
}

function tryRun(run: () => unknown, name: string, result: BlockingResult): void {
  const ms = blockedMs(() => {
    try {
      run();
    } catch (error) {
      if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) {
        result.problems.push(`${name}: ${error.stack ?? error.message}`);
      }
    }
  });
  result.runs++;
  result.longestMs = Math.max(result.longestMs, ms);
  if (ms > blockedMsMax) result.problems.push(`${name}: blocked the thread for ${ms.toFixed(0)} ms`);
}
