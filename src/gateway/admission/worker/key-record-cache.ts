/**
 * The one cache of key records. A record serves for 30 s from when it was read, an unknown key for 5 s.
 * Hashes asked for in one turn are looked up in one statement; nothing caps look-ups, so that a flood of wrong keys
 * cannot refuse a right one. A record that is still used after 20 s is read again while it serves: nobody waits for the
 * database every 30 s, and a database that is busy for less than the rest holds up no decision.
 */
import { withDeadline, type Clock } from "../../../kernel/clock.ts";
import { keyRecordAgeMsMax, readAheadAgeMs, readAheadPauseMs, recordLookupMs, unknownKeyAgeMsMax } from "../../limits.ts";
import type { KeyRecord } from "../../../accounts/keys/record.ts";
import { PartitionedLru } from "../partitioned-lru.ts";

/** Reads the records of these hashes; hashes without a usable key are absent from the map. */
export type FindRecords = (hashes: string[]) => Promise<Map<string, KeyRecord>>;

export interface CachedRecord {
  /** null: unknown, revoked, or its owner cannot use it. */
  record: KeyRecord | null;
  /** Monotonic ms of the start of the read. */
  readAt: number;
}

interface Lookup {
  hashes: Set<string>;
  done: Promise<Map<string, CachedRecord>>;
}

export class KeyRecordCache {
  readonly #cache: PartitionedLru<CachedRecord>;
  readonly #find: FindRecords;
  readonly #clock: Clock;
  #nextLookup: Lookup | null = null;
  /** Whose records are being read, or soon will be, while they serve. */
  readonly #readingAhead = new Set<string>();
  /** Those of the next such read; null: none is planned. */
  #nextReadAhead: string[] | null = null;
  /** Rises with every change: a read that began before a change is not kept. */
  #version = 0;

  /** @param max how many are remembered; absent: `recordsCachedMax` */
  constructor(find: FindRecords, clock: Clock, max?: number) {
    this.#cache = new PartitionedLru(max);
    this.#find = find;
    this.#clock = clock;
  }

  /** @throws when the database does not answer; what is cached and young enough is served all the same */
  async get(hashes: string[]): Promise<Map<string, CachedRecord>> {
    const found = new Map<string, CachedRecord>();
    const missing: string[] = [];
    for (const hash of hashes) {
      const cached = this.cached(hash);
      if (cached) found.set(hash, cached);
      else missing.push(hash);
    }
    if (missing.length === 0) return found;
    const read = await this.#lookUp(missing);
    for (const hash of missing) {
      const entry = read.get(hash);
      if (entry) found.set(hash, entry);
    }
    return found;
  }

  /** What is cached and still young enough, at once; one that will soon be too old is read again beside it. */
  cached(hash: string): CachedRecord | undefined {
    const entry = this.#cache.get(hash);
    if (!entry) return undefined;
    const age = this.#clock.monotonic() - entry.readAt;
    if (entry.record === null) return age < unknownKeyAgeMsMax ? entry : undefined;
    if (age >= keyRecordAgeMsMax) return undefined;
    if (age >= readAheadAgeMs && !this.#readingAhead.has(hash)) this.#readAhead(hash);
    return entry;
  }

  /** Something about keys, owners or workspaces changed: nothing cached is believed any longer. */
  clear(): void {
    this.#version++;
    this.#cache.clear();
    this.#nextLookup = null;
  }

  /** Not urgent: after a pause one statement serves many. What cannot be read now is asked for again by its next use. */
  #readAhead(hash: string): void {
    this.#readingAhead.add(hash);
    if (this.#nextReadAhead !== null) return void this.#nextReadAhead.push(hash);
    const hashes = [hash];
    this.#nextReadAhead = hashes;
    this.#clock.after(readAheadPauseMs, () => {
      this.#nextReadAhead = null;
      const done = (): void => hashes.forEach((one) => this.#readingAhead.delete(one));
      this.#read(hashes).then(done, done);
    });
  }

  #lookUp(hashes: string[]): Promise<Map<string, CachedRecord>> {
    this.#nextLookup ??= this.#openLookup();
    for (const hash of hashes) this.#nextLookup.hashes.add(hash);
    return this.#nextLookup.done;
  }

  #openLookup(): Lookup {
    const lookup: Lookup = { hashes: new Set(), done: Promise.resolve(new Map()) };
    lookup.done = new Promise<void>((resolve) => this.#clock.endOfTurn(resolve)).then(() => {
      if (this.#nextLookup === lookup) this.#nextLookup = null;
      return this.#read([...lookup.hashes]);
    });
    return lookup;
  }

  async #read(hashes: string[]): Promise<Map<string, CachedRecord>> {
    const version = this.#version;
    const readAt = this.#clock.monotonic();
    const records = await withDeadline(this.#clock, recordLookupMs, "Reading key records", this.#find(hashes));
    const entries = new Map<string, CachedRecord>();
    for (const hash of hashes) {
      const entry = { record: records.get(hash) ?? null, readAt };
      entries.set(hash, entry);
      if (version === this.#version) this.#cache.set(hash, entry);
    }
    return entries;
  }
}
