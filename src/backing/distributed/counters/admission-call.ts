/** The words of admit.lua: a batch of requests as its arguments, its reply lines as the port's replies. */
import type { AdmitBatch, AdmitReply, AdmitRequest, RateWindow, Resolution } from "../../counters.ts";
import { monthBounds } from "../../../kernel/clock.ts";
import { holdMs, rateWindowMs } from "../../../limits/constants.ts";
import { baseName, callsFor } from "./calls.ts";
import { ReplyWords } from "./reply-words.ts";

/** A request with its place in the batch: a call takes them by workspace. */
type Placed = [place: number, request: AdmitRequest];

export interface AdmissionCall {
  keys: string[];
  values: string[];
  /** In the order of the reply lines. */
  placed: Placed[];
}

/** @param store the store's present run, and whether a call must stay within a cluster's slot */
export function admissionCalls({ month, requests }: AdmitBatch, store: { run: string; clustered: boolean }): AdmissionCall[] {
  const { startMs, endMs } = monthBounds(month);
  const common = [store.run, month, String(startMs), String(endMs), String(holdMs), String(rateWindowMs)];
  const byWorkspace = Map.groupBy(requests.entries(), ([, request]) => request.workspace);
  return callsFor(byWorkspace.keys(), store.clustered).map((workspaces) => {
    const call: AdmissionCall = { keys: workspaces.map(baseName), values: [...common], placed: [] };
    for (const workspace of workspaces) {
      const placed = byWorkspace.get(workspace) ?? [];
      call.values.push(String(placed.length));
      for (const one of placed) {
        call.placed.push(one);
        pushRequest(call.values, one[1]);
      }
    }
    return call;
  });
}

function pushRequest(values: string[], request: AdmitRequest): void {
  values.push(
    request.generation,
    request.key,
    request.fingerprint,
    String(request.requestsPerMinute),
    String(request.amount),
    String(request.keyLimit ?? ""),
    String(request.workspaceLimit ?? ""),
    request.modelRefusal === null ? "" : "refused",
    String(request.deadline ?? ""),
  );
}

/** @param asked the request that `line` answers, and what its batch was decided by */
export function readAdmission(line: string, asked: { request: AdmitRequest; month: string; now: number }): AdmitReply {
  const words = new ReplyWords(line.split("|"));
  const outcome = words.text();
  switch (outcome) {
    case "admitted": {
      const { request, month } = asked;
      const [at, available] = [words.number(), words.nano()];
      return { outcome, at, month, amount: request.amount, available, window: readWindow(words), replay: false };
    }
    case "replay": {
      const [at, month, amount, available] = [words.number(), words.text(), words.nano(), words.nano()];
      return { outcome: "admitted", at, month, amount, available, window: readWindow(words), replay: true };
    }
    case "rate_limited":
      return { outcome, retryAfterMs: words.number(), window: readWindow(words) };
    case "model_refused":
      return { outcome, reason: asked.request.modelRefusal ?? "", window: readWindow(words) };
    case "insufficient_credit":
      return { outcome, available: words.nano(), balance: words.nano(), window: readWindow(words) };
    case "key_spend_limit_exceeded":
    case "account_spend_limit_exceeded":
      return { outcome, headroom: words.nano(), window: readWindow(words) };
    case "wrong_month":
      return { outcome, now: asked.now };
    case "late":
    case "conflict":
      return { outcome };
    case "already_resolved":
      return { outcome, as: oneOf(resolutions, words.text()) };
    case "not_ready":
      return { outcome, what: oneOf(missing, words.text()) };
    default:
      throw new Error(`Cannot read the reply "${line}" of the admission script`);
  }
}

const resolutions: readonly Resolution[] = ["settled", "void", "expired", "unknown"];
const missing = ["workspace", "month", "key"] as const;

function readWindow(words: ReplyWords): RateWindow {
  return { remaining: words.number(), resetMs: words.number() };
}

function oneOf<Word extends string>(words: readonly Word[], text: string): Word {
  const found = words.find((word) => word === text);
  if (found === undefined) throw new Error(`Cannot read "${text}" in a script's reply: one of ${words.join(", ")} is needed`);
  return found;
}
