/** A cache of unsealed data keys, which saves a look-up for each stored prompt. */
import { LRUCache } from "lru-cache";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { SealKey } from "../../kernel/seal-key.ts";
import { dataKeysCachedMax } from "./limits.ts";
import { dataKeyOf, type DataKeySources } from "../../accounts/secrets/data-key.ts";

export class DataKeyCache {
  readonly #keys = new LRUCache<WorkspaceId, SealKey>({ max: dataKeysCachedMax });
  readonly #sources: DataKeySources;

  constructor(sources: DataKeySources) {
    this.#sources = sources;
  }

  /** A workspace's data key never changes, only the key that seals it. @throws SealError when the keyring cannot unseal it */
  async get(workspace: WorkspaceId): Promise<SealKey> {
    const known = this.#keys.get(workspace);
    if (known) return known;
    const key = await dataKeyOf(workspace, this.#sources);
    this.#keys.set(workspace, key);
    return key;
  }
}
