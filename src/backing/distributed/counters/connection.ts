/**
 * The connection to Redis: made, and made again, in the background; nobody waits for it and nothing is queued for it.
 * A call ends within the counters' deadline. While one that passed it is still unanswered, calls fail at once; its late
 * answer, or the end of its connection, ends that state. So a Redis that hangs costs a few callers 250 ms, the others nothing.
 */
import { createClient } from "redis";
import { DeadlineError, withDeadline, type Clock } from "../../../kernel/clock.ts";
import type { Logger } from "../../../kernel/log.ts";
import type { Secret } from "../../../kernel/secret.ts";
import { countersDeadlineMs } from "../../../limits/constants.ts";
import { CountersUnavailableError } from "../../counters.ts";
import type { Word } from "./reply-words.ts";
import { fullName, type FunctionName, type Library } from "./library.ts";
import { readServer, warnOfSettings, type Server } from "./server.ts";

const connectMsMax = 1_000;
const reconnectMsMax = 250;
/** A connection on which nothing came for this long is given up: while it is idle, a ping asks for an answer. */
const silenceMsMax = 2_000;
const pingMs = 500;
const commandsWaitingMax = 5_000;
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

type Client = ReturnType<typeof makeClient>;

export class RedisConnection implements AsyncDisposable {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #library: Library;
  readonly #first = Promise.withResolvers<void>();
  /** Of the present connection, for a restart of Redis ends it; null while there is none. */
  #server: Server | null = null;
  /** Calls that passed their deadline and have neither been answered nor failed since. */
  #unanswered = 0;
  #troubleLoggedAt = -troubleLogMs;
  #isClosed = false;

  constructor({ url, clock, log, library }: ConnectionOptions) {
    this.#clock = clock;
    this.#log = log;
    this.#library = library;
    this.#client = makeClient(url);
    this.#client.on("ready", () => void this.#greet());
    this.#client.on("error", (error) => this.#lose(error));
    this.#client.connect().catch((error: unknown) => this.#lose(error));
    void this.#first.promise.then(() => warnOfSettings((name) => this.#client.configGet(name), log));
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
  async words(name: FunctionName, call: FunctionCall): Promise<Word[]> {
    return wordsOf(await this.#run(name, call));
  }

  /** @throws CountersUnavailableError: whether it ran is then not known */
  command(words: string[]): Promise<Word[]> {
    return this.#call(words[0] ?? "", async () => wordsOf(await this.#client.sendCommand(words)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#server = null;
    this.#client.destroy();
  }

  #run(name: FunctionName, { key, values }: FunctionCall): Promise<unknown> {
    const words = ["FCALL", fullName(name, this.#library), "1", key, ...values];
    return this.#call(`Function ${name}`, async () => {
      try {
        return await this.#client.sendCommand(words);
      } catch (error) {
        if (!isUnknownFunction(error)) throw error;
        await this.#load();
        return await this.#client.sendCommand(words);
      }
    });
  }

  async #load(): Promise<void> {
    await this.#client.sendCommand(["FUNCTION", "LOAD", "REPLACE", this.#library.text]);
  }

  async #call<Reply>(what: string, send: () => Promise<Reply>): Promise<Reply> {
    if (this.#server === null) throw new CountersUnavailableError(`${what} cannot run: Redis is not connected`);
    if (this.#unanswered > 0) throw new CountersUnavailableError(`${what} cannot run: Redis does not answer`);
    const reply = send();
    try {
      return await withDeadline(this.#clock, countersDeadlineMs, what, reply);
    } catch (error) {
      if (error instanceof DeadlineError) this.#awaitAnswer(reply);
      this.#logTrouble(error);
      throw new CountersUnavailableError(`${what} failed`, { cause: error });
    }
  }

  #awaitAnswer(late: Promise<unknown>): void {
    this.#unanswered++;
    const end = (): void => void this.#unanswered--;
    late.then(end, end);
  }

  /** A connection is of use once the run of its server is known, for each function compares it with the counters' own. */
  async #greet(): Promise<void> {
    try {
      this.#server = readServer(await this.#client.info());
      this.#first.resolve();
      this.#log.info({ event: "redis.connected", clustered: this.#server.clustered }, "Connected to Redis");
      await this.#load();
    } catch (error) {
      this.#logTrouble(error);
      if (this.#client.isReady && this.#server === null) this.#clock.after(reconnectMsMax, () => void this.#greet());
    }
  }

  /** A ping that Redis refuses, for it is busy or still loading, is an error too, but the connection stands. */
  #lose(error: unknown): void {
    if (!this.#client.isReady) this.#server = null;
    this.#logTrouble(error);
  }

  #logTrouble(error: unknown): void {
    if (this.#isClosed || this.#clock.monotonic() < this.#troubleLoggedAt + troubleLogMs) return;
    this.#troubleLoggedAt = this.#clock.monotonic();
    this.#log.warn({ event: "redis.trouble", reason: String(error) }, "Redis cannot be used at present");
  }
}

/** What is sent is sent at once or refused: a command that waits would run when nobody wants it any more. */
function makeClient(url: Secret) {
  return createClient({
    url: url.reveal(),
    RESP: 2,
    disableOfflineQueue: true,
    commandsQueueMaxLength: commandsWaitingMax,
    pingInterval: pingMs,
    // Its own time limit ends when a command is written, so it would not see a Redis that hangs.
    commandOptions: { timeout: 0 },
    maintNotifications: "disabled",
    disableClientInfo: true,
    socket: {
      connectTimeout: connectMsMax,
      socketTimeout: silenceMsMax,
      reconnectStrategy: (retries) => Math.min(50 * (retries + 1), reconnectMsMax),
    },
  });
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
