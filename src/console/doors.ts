/** What the Console may receive and make at once. Forms with a file share the door of the control API's files. */
import { strangerGivesWayMs } from "../accounts/limits.ts";
import { BodyDoor } from "../accounts/quotas/body-door.ts";
import { Turns } from "../accounts/quotas/fair-semaphore.ts";
import type { Door } from "../control-api/session-doors.ts";
import type { Clock } from "../kernel/clock.ts";
import * as limits from "./limits.ts";

export interface ConsoleDoors {
  pages: Turns;
  /** Without a file. They have turns of their own, since they may wait for providers. */
  forms: Door;
  /** Forms of people of whom only the network is known. */
  signIns: BodyDoor;
}

const waiting = {
  waitingMax: limits.pagesWaitingMax,
  waitingPerHolderMax: limits.pagesWaitingPerPersonMax,
  waitMs: limits.pageWaitMs,
};
const pages = {
  ...waiting,
  runningMax: limits.pagesAtOnceMax,
  runningPerGroupMax: limits.pagesPerWorkspaceMax,
  runningPerHolderMax: limits.pagesPerPersonMax,
};
const forms = {
  ...waiting,
  runningMax: limits.formsAtOnceMax,
  runningPerGroupMax: limits.formsPerWorkspaceMax,
  runningPerHolderMax: limits.formsPerPersonMax,
};
const formBodies = {
  ...waiting,
  runningMax: limits.formBodiesMax,
  runningPerGroupMax: limits.formBodiesPerWorkspaceMax,
  runningPerHolderMax: limits.formBodiesPerPersonMax,
};
const signIns = {
  runningMax: limits.signInsAtOnceMax,
  runningPerHolderMax: limits.signInsAtOnceMax,
  waitingMax: limits.signInsWaitingMax,
  waitingPerHolderMax: limits.signInsWaitingMax,
  refusesOldest: true,
  waitMs: limits.pageWaitMs,
};

export function consoleDoors(clock: Clock): ConsoleDoors {
  const busy = "The Console handles too many forms at this moment";
  return {
    pages: new Turns({ clock, limits: pages, busy: "The Console makes too many pages at this moment" }),
    forms: { bodies: new BodyDoor({ clock, limits: formBodies, busy }), turns: new Turns({ clock, limits: forms, busy }) },
    signIns: new BodyDoor({
      clock,
      limits: signIns,
      busy: "Too many people sign in at this moment",
      givesWayMs: strangerGivesWayMs,
      dropsRefused: true,
    }),
  };
}
