import type { Backing } from "../../src/backing/backing.ts";
import type { Config } from "../../src/config.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import type { Logger } from "../../src/kernel/log.ts";

/** What the process of a worker has, whatever its kind. */
export interface KindParts {
  config: Config;
  backing: Backing;
  clock: Clock;
  log: Logger;
}

/** Starts a worker. What it returns stops it. */
export type StartKind = (parts: KindParts) => Promise<AsyncDisposable>;
