/** The providers that a workspace may bring its own key for. */
import { Type, type Static } from "@sinclair/typebox";
import { DomainError } from "../../accounts/errors.ts";
import type { ProviderRecord } from "../models/model.ts";
import type { Models } from "../models/models.ts";

const text = (description: string) => Type.String({ description });

export const OwnKeyProvider = Type.Object({
  id: text("Its id, the `provider` of an own key"),
  name: text("Its display name"),
});
export type OwnKeyProvider = Static<typeof OwnKeyProvider>;

/** By name. @throws DomainError unavailable without a catalog */
export function listOwnKeyProviders({ models }: { models: Pick<Models, "catalog"> }): OwnKeyProvider[] {
  const providers = [...catalogProviders(models).values()].filter((provider) => takesKey(provider) && isPassedOn(provider));
  return providers.map(({ id, name }) => ({ id, name })).toSorted((a, b) => a.name.localeCompare(b.name, "en"));
}

/** @throws DomainError unavailable */
export function catalogProviders(models: Pick<Models, "catalog">): ReadonlyMap<string, ProviderRecord> {
  const providers = models.catalog()?.providers;
  if (!providers) throw new DomainError("unavailable", "The catalog cannot be read at present: try again shortly");
  return providers;
}

/** Whether there is a key that a workspace could replace. */
export function takesKey({ keyEnv }: ProviderRecord): boolean {
  return keyEnv !== null;
}

/** Whether customers' requests may be passed on to it. */
export function isPassedOn({ termsChecked, subprocessorListed }: ProviderRecord): boolean {
  return termsChecked && subprocessorListed;
}
