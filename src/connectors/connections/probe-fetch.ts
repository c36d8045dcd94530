/** Calls vendors for tests of connections: only over https, and only public hosts. */
import { probeAnswerBytesMax, probeCallMs } from "../limits.ts";
import { createSafeFetch, type SafeFetchOptions } from "../../http/outbound/safe-fetch.ts";
import type { ProbeFetch } from "./probe.ts";

export function createProbeFetch(options: SafeFetchOptions): ProbeFetch {
  const call = createSafeFetch(options);
  const bounds = { answerBytesMax: probeAnswerBytesMax, deadlineMs: probeCallMs, what: "The vendor's answer" };
  return async ({ method, url, headers, body }) => {
    const answer = await call({ method, url, headers, body, ...bounds });
    return { status: answer.status, body: answer.body.toString() };
  };
}
