/** Requests launch checks from the prober of the fleet, and waits until they have ended. Models that passed before stay callable. */
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
 * @param options.chosen models whose routes are checked, except routes with another obstacle
 * @param options.onEnded called with each check when it ends
 * @throws DomainError unavailable when no check ends for longer than one can take: there is no prober
 */
export async function checkModels(
  { chosen, onEnded = () => {} }: { chosen: Model[]; onEnded?: (outcome: CheckOutcome) => void },
  { sql, clock, models, notify }: CheckSources,
): Promise<void> {
  const waiting = new Set(chosen.flatMap((model) => models.checkable(model).map(({ entry }) => entry)));
  await requestLaunchChecks([...waiting], sql);
  notify("checks-changed");
  const lastProgress = { ended: -1, at: clock.monotonic() };
  while (waiting.size > 0) {
    const ended = new Map([...(await readLaunchChecks(sql))].filter(([, { requested }]) => !requested));
    for (const entry of waiting) {
      const check = ended.get(entry);
      if (check === undefined) continue;
      waiting.delete(entry);
      onEnded(check);
    }
    // Checks of other models may come first: the prober is alive while any check ends.
    if (ended.size !== lastProgress.ended) Object.assign(lastProgress, { ended: ended.size, at: clock.monotonic() });
    if (clock.monotonic() - lastProgress.at > launchChecksSilenceMsMax) throw proberUnavailable(waiting.size);
    if (waiting.size > 0) await sleep(clock, launchChecksWaitMs);
  }
  await models.refreshChecks();
}

function proberUnavailable(missing: number): DomainError {
  const message = `${missing} checks have not ended, and none ended lately: is a prober running?`;
  return new DomainError("unavailable", message);
}
