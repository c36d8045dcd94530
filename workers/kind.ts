/**
 * What the process of a worker has, whatever its kind. Each kind exports `start`, which opens its parts in a process of its own, and
 * `start<Kind>`, which takes them in the one process of embedded mode.
 */
import type { Backing } from "../src/backing/backing.ts";
import type { Config } from "../src/config.ts";
import { openModels, type Models } from "../src/gateway/models/models.ts";
import type { Clock } from "../src/kernel/clock.ts";
import type { Logger } from "../src/kernel/log.ts";

/** What the process of a worker has, whatever its kind. */
export interface KindParts {
  config: Config;
  backing: Backing;
  clock: Clock;
  log: Logger;
}

/** Starts a worker. What it returns stops it. */
export type StartKind = (parts: KindParts) => Promise<AsyncDisposable>;

/** The models of a worker's catalog. */
export function modelsOf({ config, backing, clock, log }: KindParts): Promise<Models> {
  const { catalogDir: folder, sandbox, providerKey } = config;
  return openModels({ folder, sandbox, ...backing, clock, log, providerKey });
}
