/**
 * The connection to Redis: made, and made again, in the background; nobody waits for it and nothing is queued for it.
 * A call ends within the counters' deadline. While one that passed it is still unanswered, calls fail at once; its late
 * answer, or the end of its connection, ends that state. So a Redis that hangs costs a few callers 250 ms, the others nothing.
 */
import { DeadlineError, withDeadline, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import type { Secret } from "../../kernel/secret.ts";
import { countersDeadlineMs } from "../limits.ts";
import { CountersUnavailableError } from "../counters.ts";
import { RedisLink } from "./link.ts";
import type { Word } from "./reply-words.ts";
import { fullName, type FunctionName, type Library } from "./library.ts";
import { readServer, warnOfSettings, type Server } from "./server.ts";

/** The wait before the first attempt to connect anew; each one that fails makes the next so much longer. */
const reconnectMs = 50;
const reconnectMsMax = 250;
const troubleLogMs = 10_000;

export interface ConnectionOptions {
  url: Secret;
  clock: Clock;
  log: Logger;
  library: Library;
}

export interface FunctionCall {
  /** Names the slot of a Redis Cluster. */
  key: string;
  values: (string | Buffer)[];
}

export class RedisConnection implements AsyncDisposable {
  readonly #url: Secret;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #library: Library;
  readonly #first = Promise.withResolvers<void>();
  /** The present one, open or not; null between two and once this is closed. */
  #link: RedisLink | null = null;
  /** Of the present link, for a restart of Redis ends it; null while there is none. */
  #server: Server | null = null;
  /** Calls of the present link that passed their deadline and have neither been answered nor failed since. */
  #unanswered = 0;
  /** Links that ended since one was open. */
  #ended = 0;
  /** Of the next attempt to connect or to greet. */
  #cancelAttempt = (): void => {};
  #troubleLoggedAt = -troubleLogMs;
  #isClosed = false;

  constructor({ url, clock, log, library }: ConnectionOptions) {
    this.#url = url;
    this.#clock = clock;
    this.#log = log;
    this.#library = library;
    this.#connect();
    void this.#first.promise.then(() => warnOfSettings(async (name) => this.#link?.send("CONFIG", ["GET", name]), log));
  }

  /** Resolves when Redis was reached for the first time, at the latest after `ms`. */
  async reached(ms: number): Promise<void> {
    await withDeadline(this.#clock, ms, "Connecting to Redis", this.#first.promise).catch(() => {});
  }

  /** The Redis that the next call goes to. @throws CountersUnavailableError when there is none at present */
  get server(): Server {
    if (this.#server === null) throw new CountersUnavailableError("Redis is not connected");
    return this.#server;
  }

  /** Runs a function. @throws CountersUnavailableError: whether it ran is then not known */
  words(name: FunctionName, { key, values }: FunctionCall): Promise<Word[]> {
    const words = [fullName(name, this.#library), "1", key, ...values];
    return this.#call(`Function ${name}`, async (link) => {
      try {
        return await link.send("FCALL", words);
      } catch (error) {
        if (!isUnknownFunction(error)) throw error;
        await this.#load(link);
        return await link.send("FCALL", words);
      }
    });
  }

  /** @throws CountersUnavailableError: whether it ran is then not known */
  command([name = "", ...words]: string[]): Promise<Word[]> {
    return this.#call(name, (link) => link.send(name, words));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const link = this.#link;
    this.#isClosed = true;
    this.#forget();
    link?.[Symbol.dispose]();
  }

  async #call(what: string, send: (link: RedisLink) => Promise<unknown>): Promise<Word[]> {
    const link = this.#link;
    if (link === null || this.#server === null) throw new CountersUnavailableError(`${what} cannot run: Redis is not connected`);
    if (this.#unanswered > 0) throw new CountersUnavailableError(`${what} cannot run: Redis does not answer`);
    const reply = send(link);
    try {
      return wordsOf(await withDeadline(this.#clock, countersDeadlineMs, what, reply));
    } catch (error) {
      if (error instanceof DeadlineError) this.#awaitAnswer(link, reply);
      this.#logTrouble(error);
      throw new CountersUnavailableError(`${what} failed`, { cause: error });
    }
  }

  /** @param link the one it was sent over: the next one owes nothing */
  #awaitAnswer(link: RedisLink, late: Promise<unknown>): void {
    if (link !== this.#link) return;
    this.#unanswered++;
    const end = (): void => {
      if (link === this.#link) this.#unanswered--;
    };
    late.then(end, end);
  }

  async #load(link: RedisLink): Promise<void> {
    await link.send("FUNCTION", ["LOAD", "REPLACE", this.#library.text]);
  }

  #connect(): void {
    const link: RedisLink = new RedisLink({
      url: this.#url,
      clock: this.#clock,
      listener: {
        opened: () => {
          this.#ended = 0;
          void this.#greet(link);
        },
        refused: (error) => this.#logTrouble(error),
        ended: (reason) => this.#lose(reason),
      },
    });
    this.#link = link;
  }

  /** A connection is of use once the run of its server is known, for each function compares it with the counters' own. */
  async #greet(link: RedisLink): Promise<void> {
    try {
      const server = readServer(String(await link.send("INFO", [])));
      if (link !== this.#link) return;
      this.#server = server;
      this.#first.resolve();
      this.#log.info({ event: "redis.connected", clustered: server.clustered }, "Connected to Redis");
      await this.#load(link);
    } catch (error) {
      this.#logTrouble(error);
      if (link !== this.#link || this.#server !== null) return;
      this.#cancelAttempt = this.#clock.after(reconnectMsMax, () => void this.#greet(link));
    }
  }

  #lose(reason: unknown): void {
    this.#forget();
    this.#logTrouble(reason);
    this.#ended++;
    this.#cancelAttempt = this.#clock.after(Math.min(reconnectMs * this.#ended, reconnectMsMax), () => this.#connect());
  }

  #forget(): void {
    this.#cancelAttempt();
    this.#link = null;
    this.#server = null;
    this.#unanswered = 0;
  }

  #logTrouble(error: unknown): void {
    if (this.#isClosed || this.#clock.monotonic() < this.#troubleLoggedAt + troubleLogMs) return;
    this.#troubleLoggedAt = this.#clock.monotonic();
    this.#log.warn({ event: "redis.trouble", reason: String(error) }, "Redis cannot be used at present");
  }
}

/** It was emptied of functions, or another Redis stands in its place. */
function isUnknownFunction(error: unknown): boolean {
  return error instanceof Error && error.message === "ERR Function not found";
}

/** Our functions and commands answer with lists of texts and whole numbers. */
function wordsOf(reply: unknown): Word[] {
  if (!Array.isArray(reply)) throw new TypeError(`Cannot read a reply of Redis: a list is needed, not ${typeof reply}`);
  return reply as Word[];
}
