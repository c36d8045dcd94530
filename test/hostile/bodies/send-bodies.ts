/** Sends the bodies of a seed to a gateway, many at a time, and checks every answer. */
import { problemOf } from "./judge.ts";
import { malformedBody } from "./malformed-body.ts";

export interface BodiesPlan {
  url: string;
  /** Keys that take turns, since accepted bodies count against their rate limits. */
  keys: string[];
  seed: number;
  count: number;
  /** The first number. With a count of one it repeats the body that failed. */
  from?: number;
  progress?: (sent: number) => void;
}

export interface BodiesResult {
  /** Counts by error code; "200" for valid bodies. */
  answers: Record<string, number>;
  /** The first few problems. */
  problems: string[];
  problemsInAll: number;
}

const connections = 32;
const problemsMax = 20;
const answerMsMax = 30_000;

export async function sendBodies({ url, keys, seed, count, from = 0, progress }: BodiesPlan): Promise<BodiesResult> {
  const result: BodiesResult = { answers: {}, problems: [], problemsInAll: 0 };
  let next = from;
  const loop = async (): Promise<void> => {
    while (next < from + count) {
      const number = next++;
      const sent = malformedBody(seed, number);
      const { name, problem } = await sendOnce(sent).catch((error: unknown) => ({ name: "broken", problem: String(error) }));
      result.answers[name] = (result.answers[name] ?? 0) + 1;
      if (problem !== null && ++result.problemsInAll <= problemsMax)
        result.problems.push(`seed ${seed}, body ${number}: ${problem}`);
      if ((number - from + 1) % 5_000 === 0) progress?.(number - from + 1);
    }
  };
  const sendOnce = async (sent: ReturnType<typeof malformedBody>) => {
    const response = await fetch(`${url}/gpt/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${keys[next % keys.length] ?? ""}`, "content-type": "application/json" },
      body: sent.bytes,
      signal: AbortSignal.timeout(answerMsMax),
    });
    const answer = { status: response.status, text: await response.text() };
    const [, code] = /"code":"(\w+)"/.exec(response.ok ? "" : answer.text) ?? [];
    return { name: code ?? String(answer.status), problem: problemOf(sent, answer) };
  };
  await Promise.all(Array.from({ length: connections }, loop));
  return result;
}
