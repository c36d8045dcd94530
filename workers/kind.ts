/**
 * What every kind of worker process has. Each kind exports `start`, which opens its parts for a separate process, and `start<Kind>`, which
 * receives them in the single process of embedded mode.
 */
import type { Keyring } from "../src/accounts/secrets/keyring.ts";
import type { Backing } from "../src/backing/backing.ts";
import type { Config } from "../src/config.ts";
import { openModels, type Models } from "../src/gateway/models/models.ts";
import type { Clock } from "../src/kernel/clock.ts";
import type { Logger } from "../src/kernel/log.ts";

export interface KindParts {
  config: Config;
  backing: Backing;
  clock: Clock;
  log: Logger;
}

/** Starts a worker. Disposing of the result stops it. */
export type StartKind = (parts: KindParts) => Promise<AsyncDisposable>;

/** The models that a worker uses. @param keyring opens the service's keys; `unused`: the worker calls no provider */
export function modelsOf(
  { config, backing, clock, log }: KindParts,
  { keyring }: { keyring: Keyring | null | "unused" },
): Promise<Models> {
  const { catalogDir: folder, sandbox, environmentKey } = config;
  return openModels({ folder, sandbox, ...backing, clock, log, environmentKey, keyring });
}
