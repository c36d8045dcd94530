/** Sends the bodies of a seed to a gateway, many at a time, and judges every answer. */
import { problemOf } from "./judge.ts";
import { malformedBody } from "./malformed-body.ts";

export interface BodiesPlan {
  url: string;
  /** Used in turn: what is accepted counts against their windows. */
  keys: string[];
  seed: number;
  count: number;
  /** Numbers before this one are left out: with a count of one, the one that failed. */
  from?: number;
  progress?: (sent: number) => void;
}

export interface BodiesResult {
  /** By code, "200" for those that were good after all. */
  answers: Record<string, number>;
  /** The first few. */
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
      const { name, problem } = await askOnce(sent).catch((error: unknown) => ({ name: "broken", problem: String(error) }));
      result.answers[name] = (result.answers[name] ?? 0) + 1;
      if (problem !== null && ++result.problemsInAll <= problemsMax)
        result.problems.push(`seed ${seed}, body ${number}: ${problem}`);
      if ((number - from + 1) % 5_000 === 0) progress?.(number - from + 1);
    }
  };
  const askOnce = async (sent: ReturnType<typeof malformedBody>) => {
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
