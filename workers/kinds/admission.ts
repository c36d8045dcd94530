import { openCounters } from "../../src/backing/open-backing.ts";
import { startAdmission } from "../admission.ts";
import type { KindParts } from "./kind.ts";
import { modelsOf } from "./models.ts";

export async function start(parts: KindParts): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const counters = stack.use(await openCounters(parts));
  const models = stack.use(await modelsOf(parts));
  stack.use(await startAdmission({ ...parts, counters, models }));
  return stack.move();
}
