/**
 * The service's own account at each provider: add (or replace) its key with the operator's two acts, test it, switch the provider off and
 * on, remove what was decided. A key is stored only after the provider accepted it in a trial that costs at most one launch check. What is
 * stored stands over the catalog's files and the environment, in every process at the notification after the commit, and within seconds
 * where that is lost. Its failed launch checks then run again, and its missing ones run, each a call of at most 16 output tokens.
 *
 * A disabled provider is not called, not even with a workspace's own key. `remove` deletes the key and the decisions. The files and the
 * environment then count again.
 */
import { type Actor, authorize, operatorOnly } from "../../accounts/audit/actor.ts";
import type { AuditKind } from "../../accounts/audit/events.ts";
import { change, changedFields, type Sources } from "../../accounts/audit/change.ts";
import type { Fields } from "../../accounts/audit/store.ts";
import { DomainError } from "../../accounts/errors.ts";
import type { Keyring } from "../../accounts/secrets/keyring.ts";
import { notifyAfterCommit, type Transaction } from "../../backing/backing.ts";
import { sealedBy } from "../../kernel/seal-key.ts";
import { Secret } from "../../kernel/secret.ts";
import { nearest } from "../../kernel/text.ts";
import { openServiceKey, sealServiceKey } from "../models/decisions.ts";
import type { ProviderRecord } from "../models/model.ts";
import type { Models } from "../models/models.ts";
import { requestLaunchChecks } from "../models/store.ts";
import { lastFourOf } from "../own-keys/own-keys.ts";
import { candidatesOf, callOnce, type TrySources } from "../own-keys/try-key.ts";
import { tryProviderKey, type KeyTrial, type TrialOutcome } from "../providers/key-trial.ts";
import { configurableProviders, listProviders, type ListSources } from "./provider-list.ts";
import type { ProviderForm, ProviderTest, ProviderView } from "./schema.ts";
import * as store from "./store.ts";

export interface ServiceKeySources extends Sources, Omit<TrySources, "models"> {
  models: ListSources["models"] & TrySources["models"] & Pick<Models, "refreshChecks">;
  keyring: Keyring;
}

/**
 * Stores the operator's acts for a provider and, if one is given, its key, which replaces an earlier one. A disabled provider is in use
 * again.
 * @throws DomainError not_found; invalid_field for a key that the provider refuses, or for one that takes none; unavailable if nothing can
 *   be said about the key; forbidden except for the operator
 */
export async function addProvider(
  { actor, id, form }: { actor: Actor; id: string; form: ProviderForm },
  sources: ServiceKeySources,
): Promise<ProviderView> {
  authorize(actor, { roles: operatorOnly, action: "add a provider" });
  const provider = requireKnownProvider(id, sources);
  const key = form.key === undefined ? null : new Secret(form.key);
  if (key !== null && provider.keyEnv === null) {
    throw new DomainError("invalid_field", `${provider.name} takes no key: leave it empty`, { field: "key" });
  }
  const trial = key === null ? null : await requireUsable({ provider, key }, sources);
  return changeRow({ actor, provider, event: "provider.added" }, sources, (row) => ({
    ...row,
    ...(key !== null && {
      sealed: Buffer.from(sealServiceKey({ provider: id, key }, sources.keyring)).toString("base64"),
      lastFour: lastFourOf(key.reveal()),
      tested: trial?.outcome ?? null,
      testedAt: new Date(sources.clock.now()),
    }),
    termsChecked: form.terms_checked,
    subprocessorListed: form.subprocessor_listed,
    disabled: false,
  }));
}

/**
 * Tries the service's key for a provider, wherever it comes from, and has failed launch checks run again if it is accepted.
 * @throws DomainError not_found; conflict if there is no key; forbidden except for the operator
 */
export async function testProvider(
  { actor, id }: { actor: Actor; id: string },
  sources: ServiceKeySources,
): Promise<ProviderTest> {
  authorize(actor, { roles: operatorOnly, action: "test a provider" });
  await sources.models.refreshChecks();
  const provider = requireKnownProvider(id, sources);
  const key = sources.models.serviceKey(provider);
  if (key === null) throw new DomainError("conflict", `There is no key for ${provider.name} to test: add one`);
  const { outcome, message } = await trialOf({ provider, key }, sources);
  const view = await changeRow({ actor, provider, event: "provider.tested", outcome }, sources, (row) => ({
    ...row,
    tested: outcome,
    testedAt: new Date(sources.clock.now()),
  }));
  return { ok: outcome === "accepted", outcome, message, provider: view };
}

/** Switches a provider off or on. @throws DomainError not_found; forbidden except for the operator */
export async function switchProvider(
  { actor, id, disabled }: { actor: Actor; id: string; disabled: boolean },
  sources: ServiceKeySources,
): Promise<ProviderView> {
  const event = disabled ? "provider.disabled" : "provider.enabled";
  authorize(actor, { roles: operatorOnly, action: disabled ? "disable a provider" : "enable a provider" });
  const provider = requireKnownProvider(id, sources);
  return changeRow({ actor, provider, event }, sources, (row) => ({ ...row, disabled }));
}

/**
 * Forgets the stored key and the decisions: the catalog's files and the environment count again. Records nothing if there is nothing.
 * @throws DomainError not_found; forbidden except for the operator
 */
export async function removeProvider(
  { actor, id }: { actor: Actor; id: string },
  sources: ServiceKeySources,
): Promise<ProviderView> {
  authorize(actor, { roles: operatorOnly, action: "remove a provider" });
  const provider = requireKnownProvider(id, sources);
  return changeRow({ actor, provider, event: "provider.removed" }, sources, () => null);
}

/**
 * Seals all stored keys under the first key of SECRETS_KEY. Part of `secrets rotate`.
 * @returns how many another key had sealed, and how many were sealed by it already
 * @throws SealError if a key is missing
 */
export async function resealServiceKeys(keyring: Keyring, tx: Transaction): Promise<{ rewrapped: number; unchanged: number }> {
  const result = { rewrapped: 0, unchanged: 0 };
  for (const { provider, sealed } of await store.lockSealedKeys(tx)) {
    if (sealedBy(sealed) === keyring.first.id) result.unchanged++;
    else {
      const key = openServiceKey({ provider, sealed }, keyring);
      await store.updateSealedKey({ provider, sealed: sealServiceKey({ provider, key }, keyring) }, tx);
      result.rewrapped++;
    }
  }
  if (result.rewrapped > 0) notifyAfterCommit("checks-changed", tx);
  return result;
}

/** @throws DomainError not_found, which suggests the nearest id; unavailable without a catalog */
function requireKnownProvider(id: string, sources: Pick<ServiceKeySources, "models">): ProviderRecord {
  const providers = configurableProviders(sources);
  const provider = providers.find((one) => one.id === id);
  if (provider) return provider;
  const near = nearest(
    id,
    providers.map((one) => one.id),
  );
  const hint = near === undefined ? "" : `: the nearest known one is "${near}"`;
  throw new DomainError("not_found", `There is no provider "${id}"${hint}`, { field: "id" });
}

interface Keyed {
  provider: ProviderRecord;
  key: Secret;
}

function trialOf({ provider, key }: Keyed, sources: ServiceKeySources): Promise<KeyTrial> {
  const [candidate] = candidatesOf(provider, sources);
  const call = candidate ? () => callOnce({ key, candidate }, sources) : null;
  return tryProviderKey({ provider, key }, { fetch: sources.fetchProviders, call });
}

const keyFaults: ReadonlySet<TrialOutcome> = new Set(["refused", "other_region", "no_credit"] as const);

/** @throws DomainError invalid_field if the key is at fault, else unavailable */
async function requireUsable(keyed: Keyed, sources: ServiceKeySources): Promise<KeyTrial> {
  const trial = await trialOf(keyed, sources);
  if (trial.outcome === "accepted" || trial.outcome === "unproven") return trial;
  const message = `${trial.message}. Nothing was stored`;
  if (keyFaults.has(trial.outcome)) throw new DomainError("invalid_field", message, { field: "key" });
  throw new DomainError("unavailable", message);
}

interface RowChange {
  actor: Actor;
  provider: ProviderRecord;
  event: AuditKind;
  /** Of a test. */
  outcome?: TrialOutcome;
}

/** @param after the row's new state; null: it is deleted */
async function changeRow(
  { actor, provider, event, outcome }: RowChange,
  sources: ServiceKeySources,
  after: (row: store.ServiceProviderRow) => store.ServiceProviderRow | null,
): Promise<ProviderView> {
  const { id } = provider;
  await change(actor, sources, async (tx) => {
    const before = await store.lockProviderRow(id, tx);
    const next = after(before ?? undecided(id));
    if (next === null) await store.deleteProviderRow(id, tx);
    else await store.upsertProviderRow({ ...next, at: sources.clock.now() }, tx);
    if (next !== null && !next.disabled) await requestLaunchChecks(failedEntries(id, sources), tx);
    notifyAfterCommit("checks-changed", tx);
    const fields = { before: audited(before ?? undecided(id)), after: audited(next ?? undecided(id)) };
    const changes = outcome === undefined ? changedFields(fields) : changedFields({ before: {}, after: { outcome } });
    // A new key may end with the same characters.
    const isNothing = event !== "provider.added" && Object.keys(changes).length === 0;
    return { result: undefined, event: isNothing ? null : { event, workspace: null, target: id, changes } };
  });
  await sources.models.refreshChecks();
  const view = (await listProviders({ isOperator: true }, sources)).find((one) => one.id === id);
  if (!view) throw new DomainError("unavailable", "The catalog has just dropped the provider");
  return view;
}

/** A passed check needs no repetition; a missing one runs by itself. */
function failedEntries(id: string, { models }: ServiceKeySources): string[] {
  const routes = models.list().flatMap((model) => model.routes.filter(({ provider }) => provider.id === id));
  return routes.flatMap((route) => (models.checkOf(route)?.passed === false ? [route.entry] : []));
}

function undecided(provider: string): store.ServiceProviderRow {
  const open = { sealed: null, lastFour: null, termsChecked: null, subprocessorListed: null, disabled: false };
  return { provider, ...open, testedAt: null, tested: null };
}

function audited({ sealed, lastFour, termsChecked, subprocessorListed, disabled }: store.ServiceProviderRow): Fields {
  return {
    masked: sealed === null ? null : `…${lastFour ?? ""}`,
    terms_checked: termsChecked,
    subprocessor_listed: subprocessorListed,
    disabled,
  };
}
