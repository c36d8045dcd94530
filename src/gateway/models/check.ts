/** Has the prober run launch checks again, wherever it runs, and waits until they have ended. What passed before stays callable. */
import type { Queries } from "../../backing/backing.ts";
import type { Notification } from "../../backing/bus.ts";
import { sleep, type Clock } from "../../kernel/clock.ts";
import { launchChecksSilenceMsMax, launchChecksWaitMs } from "../limits.ts";
import { DomainError } from "../../accounts/errors.ts";
import type { Model } from "./model.ts";
import type { Models } from "./models.ts";
import { requestLaunchChecks, readLaunchChecks, type CheckOutcome } from "./store.ts";

interface CheckSources {
  sql: Queries;
  clock: Clock;
  models: Pick<Models, "checkable" | "refreshChecks">;
  /** Notifies every process. */
  notify(topic: Notification): void;
}

/**
 * @param options.chosen of these, routes that nothing else keeps from serving are checked
 * @param options.onEnded told of each check as it ends
 * @throws DomainError unavailable when no check at all ends for longer than one can take: there is no prober
 */
export async function checkModels(
  { chosen, onEnded = () => {} }: { chosen: Model[]; onEnded?: (outcome: CheckOutcome) => void },
  { sql, clock, models, notify }: CheckSources,
): Promise<void> {
  const waiting = new Set(chosen.flatMap((model) => models.checkable(model).map(({ entry }) => entry)));
  await requestLaunchChecks([...waiting], sql);
  notify("checks-changed");
  const heard = { ended: -1, at: clock.monotonic() };
  while (waiting.size > 0) {
    const ended = new Map([...(await readLaunchChecks(sql))].filter(([, { requested }]) => !requested));
    for (const entry of waiting) {
      const check = ended.get(entry);
      if (check === undefined) continue;
      waiting.delete(entry);
      onEnded(check);
    }
    // Checks of other models may come first: the prober lives as long as any check ends.
    if (ended.size !== heard.ended) Object.assign(heard, { ended: ended.size, at: clock.monotonic() });
    if (clock.monotonic() - heard.at > launchChecksSilenceMsMax) throw proberUnavailable(waiting.size);
    if (waiting.size > 0) await sleep(clock, launchChecksWaitMs);
  }
  await models.refreshChecks();
}

function proberUnavailable(missing: number): DomainError {
  const message = `${missing} checks have not ended, and none ended lately: is a prober running?`;
  return new DomainError("unavailable", message);
}
