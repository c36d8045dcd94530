/** The keys that providers get: the service's, and workspaces' own, which are sealed as in production. */
import type { KeyRecord, OwnKey } from "../../src/accounts/keys/record.ts";
import { wrap } from "../../src/accounts/secrets/data-key.ts";
import { Keyring } from "../../src/accounts/secrets/keyring.ts";
import { sealOwnKey } from "../../src/gateway/own-keys/sealed-key.ts";
import { SealKey } from "../../src/kernel/seal-key.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { ownKey } from "../support/gateway/own-keys.ts";
import { secretsKeyNamed } from "../support/secrets-key.ts";
import type { PlannedWorkspace } from "./plan.ts";
import type { Recorder } from "./recorder.ts";

const keyringNamed = (name: string) => new Keyring([new Secret(secretsKeyNamed(name))]);
const present = keyringNamed("simulation");
const lost = keyringNamed("another service");

const serviceKey = "the service's key";

export class Secrets {
  /** SECRETS_KEY is lost: processes that start now cannot open any own key. */
  areLost = false;
  readonly #recorder: Recorder;
  #count = 0;

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
  }

  /** The keyring of a process that starts now. */
  get keyring(): Keyring {
    return this.areLost ? lost : present;
  }

  /** Replaces all own keys of a workspace. @returns what its API keys have of them */
  issueAll(workspace: string, { providers, fallback }: PlannedWorkspace["own"]): Pick<KeyRecord, "ownKeys" | "ownKeyFallback"> {
    const ownKeys = providers.map((provider) => this.#issue(workspace, provider));
    const keys = ownKeys.map(({ id, provider }) => ({ id, provider }));
    this.#recorder.note({ kind: "own keys", workspace, keys, fallback });
    return { ownKeys, ownKeyFallback: fallback };
  }

  /** Makes an own key, whose text is its id. */
  #issue(workspace: string, provider: string): OwnKey {
    const owner = { id: `own-${workspace}-${++this.#count}`, workspace, provider };
    const dataKey = SealKey.random();
    const sealed = Buffer.from(sealOwnKey(new Secret(owner.id), owner, dataKey)).toString("base64");
    return ownKey({ ...owner, sealed, dataKey: Buffer.from(wrap(workspace, dataKey, present).wrapped).toString("base64") });
  }
}

export const providerKey = (): Secret => new Secret(serviceKey);

/** The id of the own key that a call carried; null: it was the service's. */
export function ownKeyIn(secret: Secret | null): string | null {
  const text = secret?.reveal() ?? serviceKey;
  return text === serviceKey ? null : text;
}
