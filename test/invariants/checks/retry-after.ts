import { Notes, type Finding } from "../evidence.ts";
import { eventsOf, type History } from "../history.ts";

/**
 * I-6: Retry-After is exact. A request at the named moment, without competitors, is not refused for its rate. A request a second
 * earlier is refused. In between, the rounding to seconds allows both.
 */
export function retryAfter(history: History): Finding {
  const notes = new Notes();
  const answers = new Map(eventsOf(history, "answered").map((answer) => [answer.invocation, answer]));
  for (const { invocation, key, probe } of eventsOf(history, "invoked")) {
    if (!probe) continue;
    const answer = answers.get(invocation);
    if (!answer || answers.get(probe.of)?.retryAfterMs === undefined) continue;
    const isRefused = answer.code === "rate_limited";
    const name = `key ${key}, ${probe.afterMs} ms after what the Retry-After of ${probe.of} named`;
    if (probe.afterMs >= 0) notes.check(!isRefused, () => `${name}: still refused`);
    if (probe.afterMs <= -1_000) notes.check(isRefused, () => `${name}: not refused but ${answer.status} ${answer.code}`);
  }
  return notes;
}
