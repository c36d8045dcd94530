import { openModels, type Models } from "../../src/gateway/models/models.ts";
import type { KindParts } from "./kind.ts";

/** The models of a worker's catalog. */
export function modelsOf({ config, backing, clock, log }: KindParts): Promise<Models> {
  const { catalogDir: folder, sandbox, providerKey } = config;
  return openModels({ folder, sandbox, ...backing, clock, log, providerKey });
}
