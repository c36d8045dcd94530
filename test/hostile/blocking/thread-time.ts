import { threadMs } from "../../support/processes/thread-time.ts";

/** Nothing may block the thread that serves all clients for longer. */
export const blockedMsMax = 50;

export const blockedMs = (run: () => void): number => threadMs(run, blockedMsMax);
