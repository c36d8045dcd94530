/**
 * The operator's decisions about providers, made while the service runs: rows of the database that stand over the catalog's files and over
 * the environment. Every process has a copy, read with the launch checks: at each notification, and every few seconds, since a notification
 * may be lost. `decidedCatalog` puts the decisions into the catalog's records, so that nothing else has to know of them.
 *
 * The service's key for a provider is the row's, sealed by SECRETS_KEY and bound to its provider, or else that of the environment. A row's
 * key that cannot be opened is no key, with an alarm: another one never takes its place. Only processes that call providers open keys; the
 * workers that decide admissions only know which ones exist.
 */
import type { Keyring } from "../../accounts/secrets/keyring.ts";
import type { Logger } from "../../kernel/log.ts";
import { raiseAlarm } from "../../kernel/metrics.ts";
import { SealError } from "../../kernel/seal-key.ts";
import { Secret } from "../../kernel/secret.ts";
import type { Catalog, Model, ProviderRecord } from "./model.ts";

export interface ProviderDecision {
  provider: string;
  /** The service's key, sealed, in base64; null: the environment's counts. */
  sealed: string | null;
  /** null: what the catalog says counts. */
  termsChecked: boolean | null;
  subprocessorListed: boolean | null;
  disabled: boolean;
  /** The provider refused the service's key in its last test or call. */
  refused: boolean;
}

/** By provider. */
export type ProviderDecisions = ReadonlyMap<string, ProviderDecision>;

/** The catalog with the decisions in its providers. Models of other providers stay the same objects. */
export function decidedCatalog(catalog: Catalog, decisions: ProviderDecisions): Catalog {
  const decided = new Map<ProviderRecord, ProviderRecord>();
  for (const [id, provider] of catalog.providers) {
    const decision = decisions.get(id);
    if (decision) decided.set(provider, decidedProvider(provider, decision));
  }
  if (decided.size === 0) return catalog;
  const models = [...catalog.models].map(([id, model]) => [id, decidedModel(model, decided)] as const);
  const providers = [...catalog.providers].map(([id, provider]) => [id, decided.get(provider) ?? provider] as const);
  return { ...catalog, models: new Map(models), providers: new Map(providers) };
}

function decidedProvider(provider: ProviderRecord, decision: ProviderDecision): ProviderRecord {
  return {
    ...provider,
    termsChecked: decision.termsChecked ?? provider.termsChecked,
    subprocessorListed: decision.subprocessorListed ?? provider.subprocessorListed,
    ...(decision.disabled && { disabled: true as const }),
    ...(decision.refused && { refused: true as const }),
  };
}

function decidedModel(model: Model, decided: ReadonlyMap<ProviderRecord, ProviderRecord>): Model {
  if (!model.routes.some(({ provider }) => decided.has(provider))) return model;
  return {
    ...model,
    routes: model.routes.map((route) => ({ ...route, provider: decided.get(route.provider) ?? route.provider })),
  };
}

// The service's keys

/** How a process gets at the service's keys. */
export interface KeySource {
  /** The environment's key, by the name in a provider's `key_env`. */
  environmentKey(name: string): Secret | null;
  /** Opens the keys of the database; null: SECRETS_KEY is not set; `unused`: the process calls no provider. */
  keyring: Keyring | null | "unused";
  log: Logger;
}

/** Keeps opened keys as long as their rows stand. */
export class ServiceKeys {
  /** By provider; null: it could not be opened, which is reported once. */
  readonly #opened = new Map<string, { sealed: string; key: Secret | null }>();
  readonly #source: KeySource;

  constructor(source: KeySource) {
    this.#source = source;
  }

  /** Whether there is a key for the provider, which this process could use if it calls providers. */
  has(provider: KeyedProvider, decision: ProviderDecision | undefined): boolean {
    if (this.#source.keyring === "unused" && decision?.sealed) return true;
    return this.of(provider, decision) !== null;
  }

  /** @returns null: the provider takes no key, or there is none that can be used */
  of({ id, keyEnv }: KeyedProvider, decision: ProviderDecision | undefined): Secret | null {
    if (keyEnv === null) return null;
    if (!decision?.sealed) {
      this.#opened.delete(id);
      return this.#source.environmentKey(keyEnv);
    }
    const known = this.#opened.get(id);
    if (known?.sealed === decision.sealed) return known.key;
    const key = this.#unsealed(id, decision.sealed);
    this.#opened.set(id, { sealed: decision.sealed, key });
    return key;
  }

  #unsealed(provider: string, sealed: string): Secret | null {
    const { keyring, log } = this.#source;
    try {
      if (keyring === "unused") return null;
      if (keyring === null) throw new SealError("SECRETS_KEY is not set for this process");
      return openServiceKey({ provider, sealed: Buffer.from(sealed, "base64") }, keyring);
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      const facts = { provider, reason: error.message };
      raiseAlarm(log, "service_key.unreadable", facts, "The service's key for a provider cannot be opened");
      return null;
    }
  }
}

type KeyedProvider = Pick<ProviderRecord, "id" | "keyEnv">;

export function sealServiceKey({ provider, key }: { provider: string; key: Secret }, keyring: Keyring): Uint8Array {
  return keyring.first.seal(Buffer.from(key.reveal()), about(provider));
}

/** @throws SealError if its key is not in SECRETS_KEY, or for bytes that were sealed for another use */
export function openServiceKey({ provider, sealed }: { provider: string; sealed: Uint8Array }, keyring: Keyring): Secret {
  return new Secret(Buffer.from(keyring.open(sealed, about(provider))).toString());
}

function about(provider: string): string {
  return JSON.stringify(["service_key", provider]);
}
