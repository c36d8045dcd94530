/**
 * Key records, cached at the gateway and at the worker. A change clears both, by a message; a record that missed the message is used for 30
 * seconds at most, counted from its *read* in the database, so that the ages of the two caches never add up. The gateway's cache saves a
 * request to admission before each body. The worker's cache looks up the hashes of one turn of the event loop in one statement, and reads a
 * record again in the background before it expires, so that a busy database delays no decision. Look-ups have no bound, so that a flood of
 * invalid keys cannot refuse a valid one; invalid keys have their own partition, so that the flood evicts no valid key.
 */
import { LRUCache } from "lru-cache";
import type { KeyRecord } from "../../accounts/keys/record.ts";
import { type Clock, withDeadline } from "../../kernel/clock.ts";
import {
  keyRecordAgeMsMax,
  unknownKeyAgeMsMax,
  readAheadAgeMs,
  readAheadPauseMs,
  recordLookupMs,
  recordsCachedMax,
  unknownKeysCachedMax,
} from "../limits.ts";
import { recordsCachedBytesMax } from "./limits.ts";
import { type KeyRecordReply, type RecordOnBus, ownKeyBytes } from "./message.ts";

interface CachedKey {
  record: RecordOnBus | null;
  endsAt: number;
}

export class GatewayKeyCache {
  readonly #keys: PartitionedLru<CachedKey>;
  readonly #clock: Clock;
  #version = 0;

  /** @param max how many keys are cached; absent: `recordsCachedMax` */
  constructor(clock: Clock, max?: number) {
    this.#keys = new PartitionedLru(max);
    this.#clock = clock;
  }

  /** undefined: not cached; null: cached as a key that cannot be used. */
  get(hash: string): RecordOnBus | null | undefined {
    const cached = this.#keys.get(hash);
    return cached && this.#clock.monotonic() < cached.endsAt ? cached.record : undefined;
  }

  /** Read it before a request and pass it to `set`: a reply is not cached if a record changed before it arrived. */
  version(): number {
    return this.#version;
  }

  /** @param sent when the request was sent, in monotonic ms, and the version then; the round trip counts as age */
  set(hash: string, reply: KeyRecordReply, sent: { at: number; version: number }): void {
    if (sent.version !== this.#version) return;
    const ageMax = reply.record === null ? unknownKeyAgeMsMax : keyRecordAgeMsMax;
    this.#keys.set(hash, { record: reply.record, endsAt: sent.at + ageMax - reply.ageMs });
  }

  clear(): void {
    this.#version++;
    this.#keys.clear();
  }
}

/** Reads the records of these hashes. Hashes without a usable key are absent from the map. */
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

/**
 * The worker's cache of key records. A record is valid for 30 s after its read, an unknown key for 5 s. A record that is used after 20 s is
 * read again in the background, so no request waits for the database every 30 s, and a database that is busy for less than the remaining 10
 * s delays no decision.
 */
export class KeyRecordCache {
  readonly #cache: PartitionedLru<CachedRecord>;
  readonly #find: FindRecords;
  readonly #clock: Clock;
  #nextLookup: Lookup | null = null;
  /** Hashes that are being read again, or will be, while their records are valid. */
  readonly #readingAhead = new Set<string>();
  /** Hashes of the next such read; null: none is planned. */
  #nextReadAhead: string[] | null = null;
  /** Rises with every change: the result of a read that began before a change is not cached. */
  #version = 0;

  /** @param max how many keys are cached; absent: `recordsCachedMax` */
  constructor(find: FindRecords, clock: Clock, max?: number) {
    this.#cache = new PartitionedLru(max);
    this.#find = find;
    this.#clock = clock;
  }

  /** @throws when the database does not answer and not all records are cached */
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

  /** The cached record, if it is still valid. A record that will soon expire is read again in the background. */
  cached(hash: string): CachedRecord | undefined {
    const entry = this.#cache.get(hash);
    if (!entry) return undefined;
    const age = this.#clock.monotonic() - entry.readAt;
    if (entry.record === null) return age < unknownKeyAgeMsMax ? entry : undefined;
    if (age >= keyRecordAgeMsMax) return undefined;
    if (age >= readAheadAgeMs && !this.#readingAhead.has(hash)) this.#readAhead(hash);
    return entry;
  }

  /** Call it when a key, owner or workspace changed: cached records are no longer used. */
  clear(): void {
    this.#version++;
    this.#cache.clear();
    this.#nextLookup = null;
  }

  /** Waits for a short time, so that one statement reads many records. After a failure the record's next use tries again. */
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

/** The approximate size of a record without own provider keys: the cached maximum of such records fills the cached bytes. */
const recordBytes = Math.floor(recordsCachedBytesMax / recordsCachedMax);

/** A cache of entries by key hash, bounded in number and in bytes. Invalid keys have their own partition. */
export class PartitionedLru<Entry extends { record: Pick<KeyRecord, "ownKeys"> | null }> {
  readonly #known: LRUCache<string, Entry>;
  readonly #unknown: LRUCache<string, Entry>;

  /** @param max how many keys are cached. The library's own bound would allocate memory for all of them at once */
  constructor(max = recordsCachedMax) {
    this.#known = new LRUCache({ maxSize: max * recordBytes, sizeCalculation: (entry) => bytesOf(entry) });
    this.#unknown = new LRUCache({ maxSize: Math.min(max, unknownKeysCachedMax), sizeCalculation: () => 1 });
  }

  get(hash: string): Entry | undefined {
    return this.#known.get(hash) ?? this.#unknown.get(hash);
  }

  set(hash: string, entry: Entry): void {
    const [partition, other] = entry.record === null ? [this.#unknown, this.#known] : [this.#known, this.#unknown];
    other.delete(hash);
    partition.set(hash, entry);
  }

  clear(): void {
    this.#known.clear();
    this.#unknown.clear();
  }
}

function bytesOf({ record }: { record: Pick<KeyRecord, "ownKeys"> | null }): number {
  return recordBytes + (record === null ? 0 : ownKeyBytes(record));
}
