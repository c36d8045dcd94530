/** A thread that judges one expression after the other: some take more than a second. */
import { checkSync } from "recheck/lib/browser.js";
import { parentPort } from "node:worker_threads";
import type { Expression } from "./expression.ts";
import type { Judgement } from "./judge.ts";

/** Bounded by steps and not by time: a busy machine comes to the same judgement as an idle one. */
const bounds = {
  timeout: null,
  attackTimeout: null,
  incubationTimeout: null,
  seedingTimeout: null,
  recallTimeout: -1,
  /** States of the automaton by which one is judged exactly; a larger one takes seconds, and is attacked with texts instead. */
  maxNFASize: 5_000,
};

parentPort?.on("message", ({ source, flags }: Expression) => parentPort?.postMessage(judged(source, flags), []));

function judged(source: string, flags: string): Judgement {
  const found = checkSync(source, flags, bounds);
  switch (found.status) {
    case "safe":
      return { safe: true, says: "" };
    case "vulnerable":
      return { safe: false, says: `${found.complexity.summary}: ${found.attack.pattern}` };
    case "unknown":
      return { safe: false, says: `cannot be judged: ${found.error.kind}` };
  }
}
