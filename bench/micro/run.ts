/** `npm run bench -- micro [NAME…]`: every question, or those named. */
import { UsageError } from "../usage-error.ts";
import { admitMany } from "./admit-many.ts";
import { authenticate } from "./authenticate.ts";
import { bodyCheck } from "./body-check.ts";
import { questionsCoalescer } from "./request-batcher.ts";
import type { Case, Question } from "./question.ts";
import { relayEvents } from "./relay-events.ts";
import { settleRows } from "./settle-rows.ts";

const questions: Record<string, Question> = {
  authenticate,
  "body-check": bodyCheck,
  "admit-many": admitMany,
  "request-batcher": questionsCoalescer,
  "relay-events": relayEvents,
  "settle-rows": settleRows,
};

const warmUpMs = 500;
const batchMs = 200;
const batches = 9;

/** Microseconds per unit. */
export interface Answer {
  question: string;
  what: string;
  unit: string;
  /** Of the middle batch, and of the best. */
  median: number;
  least: number;
}

export async function microCommand(names: string[]): Promise<number> {
  const unknown = names.find((name) => !(name in questions));
  if (unknown !== undefined) throw new UsageError(`Cannot ask "${unknown}": there are ${Object.keys(questions).join(", ")}`);
  console.log(`${"".padEnd(64)}${"µs (median)".padStart(14)}${"µs (best)".padStart(14)}${"per second".padStart(14)}`);
  await askAll(names.length > 0 ? names : Object.keys(questions), ({ question, what, unit, median, least }) => {
    const label = `${question}: ${what}, per ${unit}`;
    const rate = Math.round(1_000_000 / median).toLocaleString("en");
    console.log(
      `${label.padEnd(64)}${median.toPrecision(3).padStart(14)}${least.toPrecision(3).padStart(14)}${rate.padStart(14)}`,
    );
  });
  return 0;
}

/** All questions. */
export async function runMicro({ say }: { say(line: string): void }): Promise<Answer[]> {
  return askAll(Object.keys(questions), ({ question, what, unit, median }) =>
    say(`${question}: ${what}: ${median.toPrecision(3)} µs per ${unit}`),
  );
}

async function askAll(names: string[], onAnswer: (answer: Answer) => void): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const name of names) {
    const question = questions[name];
    if (question === undefined) continue;
    console.error(`preparing ${name}`);
    await using stack = new AsyncDisposableStack();
    for (const one of await question.prepare(stack)) {
      const answer = { question: name, what: one.name, unit: question.unit, ...(await time(one)) };
      answers.push(answer);
      onAnswer(answer);
    }
  }
  return answers;
}

async function time(one: Case): Promise<Pick<Answer, "median" | "least">> {
  await batch(one, warmUpMs);
  const times: number[] = [];
  for (let n = 0; n < batches; n++) times.push(await batch(one, batchMs));
  const sorted = times.toSorted((a, b) => a - b);
  return { median: sorted[Math.floor(batches / 2)] ?? Number.NaN, least: sorted[0] ?? Number.NaN };
}

/** Microseconds per unit over at least `ms`. */
async function batch({ units, call }: Case, ms: number): Promise<number> {
  const startedAt = performance.now();
  let calls = 0;
  let now = startedAt;
  while (now - startedAt < ms) {
    const result = call();
    if (result instanceof Promise) await result;
    calls++;
    now = performance.now();
  }
  return ((now - startedAt) * 1_000) / (calls * units);
}
