/**
 * What the Console's sessions may send to the control API and call at once. The Console's forms share the door for files.
 * accounts/quotas/body-door.ts says how a door works.
 */
import { BodyDoor } from "../accounts/quotas/body-door.ts";
import { Turns } from "../accounts/quotas/fair-semaphore.ts";
import type { Clock } from "../kernel/clock.ts";
import * as limits from "./limits.ts";

export interface Door {
  bodies: BodyDoor;
  turns: Turns;
}

export function callDoor(clock: Clock): Door {
  const busy = "Too many calls are running right now";
  const each = {
    runningPerHolderMax: limits.sessionCallsPerPersonMax,
    waitingMax: limits.sessionCallsWaitingMax,
    waitingPerHolderMax: limits.sessionCallsWaitingPerPersonMax,
    waitMs: limits.sessionCallWaitMs,
  };
  const bodies = { ...each, runningMax: limits.sessionBodiesMax, runningPerGroupMax: limits.sessionBodiesPerWorkspaceMax };
  const calls = { ...each, runningMax: limits.sessionCallsAtOnceMax, runningPerGroupMax: limits.sessionCallsPerWorkspaceMax };
  return { bodies: new BodyDoor({ clock, limits: bodies, busy }), turns: new Turns({ clock, limits: calls, busy }) };
}

export function fileDoor(clock: Clock): Door {
  const busy = "Too many files are arriving right now";
  const each = {
    runningPerHolderMax: limits.sessionFilesPerPersonMax,
    waitingMax: limits.sessionFilesWaitingMax,
    waitingPerHolderMax: limits.sessionFilesWaitingPerPersonMax,
    waitMs: limits.sessionFileWaitMs,
  };
  const bodies = { ...each, runningMax: limits.sessionFilesMax };
  const work = { ...each, runningMax: limits.sessionFilesAtOnceMax, runningPerGroupMax: 1 };
  return {
    bodies: new BodyDoor({ clock, limits: bodies, busy, givesWayMs: limits.sessionFileGivesWayMs }),
    turns: new Turns({ clock, limits: work, busy }),
  };
}
