/** Random questions about usage, as members, their admins and key holders ask them. */
import * as plan from "./plan.ts";

/** The bar counts for these. */
export const barKinds = ["total", "key", "member", "model", "provider", "endpoint", "day", "a key holder's"] as const;
/** No bar counts for these: all keys of a member are looked up one by one, and a year of 250 callers has 90,000 sums by day. */
export const widerKinds = ["a member's", "day and key", "day and model"] as const;
/** What a page's chart asks, with the time before it and its forecast. */
export const chartKinds = ["a chart by key", "a chart of codes", "a chart of times", "a key's chart of times"] as const;
export const questionKinds = [...barKinds, ...widerKinds, ...chartKinds];
export type QuestionKind = (typeof questionKinds)[number];

export const zones = ["UTC", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu"] as const;

export interface Question {
  kind: QuestionKind;
  workspace: string;
  /** The only key that is asked for; null: any. */
  key: string | null;
  /** The only member; null: any. */
  member: string | null;
  by: string;
  tz: string;
  from: string;
  to: string;
}

const quarterMs = 900_000;
const dayMs = 86_400_000;
const spansInDays = [1, 7, 30, 90, 365] as const;

/** Half of the questions are about the large workspace, and half end with the data. */
export function drawQuestion(kind: QuestionKind, chance: () => number): Question {
  const draw = (count: number) => Math.floor(chance() * count);
  const one = <Value>(values: readonly [Value, ...Value[]]): Value => values[draw(values.length)] ?? values[0];
  const isLarge = kind === "a member's" || chance() < 0.5;
  const key = isLarge ? draw(plan.keys.large) : plan.keys.large + draw(plan.keys.others);
  const starts = plan.monthStarts();
  const [first = 0, end = 0] = [starts[0], starts.at(-1)];
  const length = one(spansInDays) * dayMs;
  const latest = Math.max(0, end - first - length);
  const toMs = chance() < 0.5 ? end : end - Math.floor((chance() * latest) / quarterMs) * quarterMs;
  const time = (ms: number): string => new Date(ms).toISOString();
  return {
    kind,
    workspace: plan.workspaceOfKey(key),
    key: kind === "a key holder's" || kind === "a key's chart of times" ? plan.keyId(key) : null,
    member: kind === "a member's" ? plan.memberEmail(draw(plan.members)) : null,
    by: kind === "a member's" || kind === "a key holder's" ? one(["day", "model", "provider", "endpoint"]) : byOf[kind],
    tz: one(zones),
    from: time(Math.max(first, toMs - length)),
    to: time(toMs),
  };
}

const byOf: Record<Exclude<QuestionKind, "a member's" | "a key holder's">, string> = {
  total: "",
  key: "key",
  member: "member",
  model: "model",
  provider: "provider",
  endpoint: "endpoint",
  day: "day",
  "day and key": "day,key",
  "day and model": "day,model",
  "a chart by key": "key",
  "a chart of codes": "",
  "a chart of times": "",
  "a key's chart of times": "",
};
