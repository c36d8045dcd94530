/**
 * Own keys are sealed at rest. They are in the clear only in the gateway that calls with them, for at most 30 s. A stored key is sealed
 * with the workspace's data key, and bound to its workspace, provider and id, so that a row copied to another place does not open. A key
 * that cannot be opened refuses the request with an alarm; the service's key never takes its place.
 */
import type { OwnKey } from "../../accounts/keys/record.ts";
import { unwrap } from "../../accounts/secrets/data-key.ts";
import type { Keyring } from "../../accounts/secrets/keyring.ts";
import { raiseAlarm } from "../../kernel/metrics.ts";
import type { Clock } from "../../kernel/clock.ts";
import { GatewayError } from "../../kernel/errors.ts";
import type { Logger } from "../../kernel/log.ts";
import { SealError, type SealKey } from "../../kernel/seal-key.ts";
import { Secret } from "../../kernel/secret.ts";
import { keyRecordAgeMsMax, openedOwnKeysMax } from "../limits.ts";

export class OpenedKeys {
  /** Keyed by sealed text, so a replaced key is never mistaken for its successor. */
  readonly #opened = new Map<string, Secret>();
  readonly #keyring: Keyring;
  readonly #clock: Clock;
  readonly #log: Logger;

  constructor({ keyring, clock, log }: { keyring: Keyring; clock: Clock; log: Logger }) {
    this.#keyring = keyring;
    this.#clock = clock;
    this.#log = log;
  }

  /** @throws GatewayError model_unavailable, with an alarm, if it cannot be opened: the service's key never takes its place */
  open(key: OwnKey): Secret {
    const known = this.#opened.get(key.sealed);
    if (known) return known;
    const secret = this.#unsealed(key);
    // All are dropped together, 30 s after the first, so none stays longer.
    if (this.#opened.size === 0) this.#clock.after(keyRecordAgeMsMax, () => this.#opened.clear());
    if (this.#opened.size < openedOwnKeysMax) this.#opened.set(key.sealed, secret);
    return secret;
  }

  #unsealed(key: OwnKey): Secret {
    try {
      return openOwnKey(key, this.#keyring);
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      const facts = { ownKey: key.id, workspace: key.workspace, provider: key.provider, reason: error.message };
      raiseAlarm(this.#log, "own_key.unreadable", facts, "A workspace's own provider key cannot be opened");
      const message = `The workspace's own key for ${key.provider} cannot be read at present`;
      throw new GatewayError("model_unavailable", { param: "model", message, cause: error });
    }
  }
}

// Sealing

type Owner = Pick<OwnKey, "workspace" | "provider" | "id">;

export function sealOwnKey(secret: Secret, owner: Owner, dataKey: SealKey): Uint8Array {
  return dataKey.seal(Buffer.from(secret.reveal()), about(owner));
}

/** @throws SealError if its data key is missing or needs a key that is not in SECRETS_KEY, or for bytes that were sealed for another use */
export function openOwnKey(key: Pick<OwnKey, "sealed" | "dataKey"> & Owner, keyring: Keyring): Secret {
  if (key.dataKey === null) throw new SealError("The data key of its workspace is missing");
  const dataKey = unwrap({ workspace: key.workspace, wrapped: Buffer.from(key.dataKey, "base64") }, keyring);
  return new Secret(Buffer.from(dataKey.open(Buffer.from(key.sealed, "base64"), about(key))).toString());
}

function about({ workspace, provider, id }: Owner): string {
  return JSON.stringify([workspace, "own_key", provider, id]);
}
