/**
 * The connection to a Redis, made and made again in the background; no call waits for it or is queued for it. A call ends within the
 * counters' deadline. While a call that passed its deadline has no reply, further calls fail at once, until its late reply or the end of
 * its connection. So a Redis that hangs costs a few callers 250 ms and the others nothing. A connection is used once it is known which run
 * of the server answers: counters of another run are verified before they count again. Settings that endanger the counters and failures are
 * logged, each failure once every ten seconds. Each attempt is a `RedisLink`, from connecting to its end. The reply to the first ping opens
 * it; before that and after its end it takes no call, because a waiting command would run after its caller has given up. A link that is
 * silent for several pings is given up. Pings are counted instead of milliseconds, since elapsed time would blame Redis for a pause of this
 * process.
 */
import { createHash } from "node:crypto";
import { DeadlineError, withDeadline, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import type { Secret } from "../../kernel/secret.ts";
import { CountersUnavailableError } from "../counters.ts";
import { countersDeadlineMs } from "../limits.ts";
import { type ReplyElement, fullName, type FunctionLibrary, type FunctionName } from "./functions.ts";

/** The wait before the first attempt to reconnect; each failed attempt lengthens the next wait by as much. */
const reconnectMs = 50;
const reconnectMsMax = 250;
const troubleLogMs = 10_000;

export interface ConnectionOptions {
  url: Secret;
  clock: Clock;
  log: Logger;
  connect: ConnectRedis;
  functions: FunctionLibrary;
  /** The server of a new connection is known. */
  connected(server: Server): void;
}

export interface FunctionCall {
  /** Names the slot of a Redis Cluster; absent: the function looks for itself which of its workspaces this server has. */
  key?: string;
  values: (string | Buffer)[];
}

export class RedisConnection implements AsyncDisposable {
  readonly #url: Secret;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #openClient: ConnectRedis;
  readonly #functions: FunctionLibrary;
  readonly #connected: (server: Server) => void;
  #isFirst = true;
  /** The current one, open or not; null between two and once this is closed. */
  #link: RedisLink | null = null;
  /** The server of the current link, which ends with a restart of Redis; null while there is none. */
  #server: Server | null = null;
  /** Calls of the current link that passed their deadline and have neither a reply nor failed since. */
  #overdue = 0;
  /** How many links have ended since the last one that opened. */
  #ended = 0;
  /** Cancels the next attempt to connect or to initialize. */
  #cancelAttempt = (): void => {};
  #troubleLoggedAt = -troubleLogMs;
  #isClosed = false;

  constructor({ url, clock, log, connect, functions, connected }: ConnectionOptions) {
    this.#url = url;
    this.#clock = clock;
    this.#log = log;
    this.#openClient = connect;
    this.#functions = functions;
    this.#connected = connected;
    this.#connect();
  }

  /** The Redis of the next call; null: there is none at present. */
  get server(): Server | null {
    return this.#server;
  }

  /** Runs a function. @throws CountersUnavailableError: whether it ran is then unknown */
  call(name: FunctionName, { key, values }: FunctionCall): Promise<ReplyElement[]> {
    const parameters = [fullName(name, this.#functions), ...(key === undefined ? ["0"] : ["1", key]), ...values];
    const send = async (link: RedisLink): Promise<ReplyElement[]> => {
      try {
        return elementsOf(await link.send("FCALL", parameters));
      } catch (error) {
        if (!isUnknownFunction(error)) throw error;
        await this.#loadFunctions(link, this.#server);
        return elementsOf(await link.send("FCALL", parameters));
      }
    };
    return this.#run(`Function ${name}`, send);
  }

  /** @throws CountersUnavailableError: whether it ran is then unknown */
  command([name = "", ...parameters]: string[]): Promise<ReplyElement[]> {
    return this.#run(name, async (link) => elementsOf(await link.send(name, parameters)));
  }

  /** A command that replies with a text. @throws CountersUnavailableError */
  text([name = "", ...parameters]: string[]): Promise<string> {
    return this.#run(name, async (link) => String(await link.send(name, parameters)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const link = this.#link;
    this.#isClosed = true;
    this.#forget();
    link?.[Symbol.dispose]();
  }

  async #run<Reply>(what: string, send: (link: RedisLink) => Promise<Reply>): Promise<Reply> {
    const link = this.#link;
    if (link === null || this.#server === null) throw new CountersUnavailableError(`${what} cannot run: Redis is not connected`);
    if (this.#overdue > 0) throw new CountersUnavailableError(`${what} cannot run: Redis does not answer`);
    const reply = send(link);
    try {
      return await withDeadline(this.#clock, countersDeadlineMs, what, reply);
    } catch (error) {
      if (error instanceof DeadlineError) this.#awaitLateReply(link, reply);
      this.#logTrouble(error);
      throw new CountersUnavailableError(`${what} failed`, { cause: error });
    }
  }

  /** @param link the one it was sent over: another link has no part in it */
  #awaitLateReply(link: RedisLink, late: Promise<unknown>): void {
    if (link !== this.#link) return;
    this.#overdue++;
    const end = (): void => {
      if (link === this.#link) this.#overdue--;
    };
    late.then(end, end);
  }

  async #loadFunctions(link: RedisLink, server: Server | null): Promise<void> {
    await link.send("FUNCTION", ["LOAD", "REPLACE", this.#functions.text(server?.clustered ?? false)]);
  }

  #connect(): void {
    const link: RedisLink = new RedisLink({
      url: this.#url,
      connect: this.#openClient,
      clock: this.#clock,
      listener: {
        opened: () => {
          this.#ended = 0;
          void this.#initialize(link);
        },
        refused: (error) => this.#logTrouble(error),
        ended: (reason) => this.#lose(reason),
      },
    });
    this.#link = link;
  }

  /** A connection is usable once the run of its server is known, because each function compares it with the run of the counters. */
  async #initialize(link: RedisLink): Promise<void> {
    try {
      const server = readServer(String(await link.send("INFO", [])));
      if (link !== this.#link) return;
      this.#server = server;
      this.#log.info({ event: "redis.connected", clustered: server.clustered }, "Connected to Redis");
      this.#connected(server);
      this.#checkSettings(server);
      // A replica gets them from its master.
      if (!server.isReplica) await this.#loadFunctions(link, server);
    } catch (error) {
      this.#logTrouble(error);
      if (link !== this.#link || this.#server !== null) return;
      this.#cancelAttempt = this.#clock.after(reconnectMsMax, () => void this.#initialize(link));
    }
  }

  #checkSettings(server: Server): void {
    if (!this.#isFirst) return;
    this.#isFirst = false;
    void warnOfSettings(server, { configGet: async (name) => this.#link?.send("CONFIG", ["GET", name]), log: this.#log });
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
    this.#overdue = 0;
  }

  #logTrouble(error: unknown): void {
    if (this.#isClosed || this.#clock.monotonic() < this.#troubleLoggedAt + troubleLogMs) return;
    this.#troubleLoggedAt = this.#clock.monotonic();
    this.#log.warn({ event: "redis.trouble", reason: String(error) }, "Redis cannot be used at present");
  }
}

/** Our functions and commands reply with lists of texts and whole numbers. */
function elementsOf(reply: unknown): ReplyElement[] {
  if (!Array.isArray(reply)) throw new TypeError(`Cannot read a reply of Redis: a list is needed, not ${typeof reply}`);
  return reply as ReplyElement[];
}

/** Redis lost its functions, or another Redis has taken its place. */
function isUnknownFunction(error: unknown): boolean {
  return error instanceof Error && error.message === "ERR Function not found";
}

// The server behind a connection, and whether its settings are safe

export interface Server {
  /** It changes with every restart: counters of another run are verified before they count again. 52 bits. */
  run: number;
  clustered: boolean;
  /** Takes no writes. */
  isReplica: boolean;
}

/**
 * The run of a master in a cluster: it changes with every restart, and with every promotion, since a replica that becomes the master
 * may lack the last writes of its predecessor.
 * @param replication INFO of this section. @returns null: it is not a master
 */
export function readMasterRun({ run }: Server, replication: string): number | null {
  const history = /^master_replid:(\S+)/m.exec(replication)?.[1];
  return history === undefined || !/^role:master/m.test(replication) ? null : runNamed(`${run} ${history}`);
}

interface Setting {
  name: string;
  wanted: string;
  why: string;
}

const settings: Setting[] = [
  { name: "appendonly", wanted: "yes", why: "a restart loses what was counted, and each workspace waits until it is rebuilt" },
  { name: "maxmemory-policy", wanted: "noeviction", why: "counters must not be evicted; out of memory is refused safely" },
];

function runNamed(name: string): number {
  return Number.parseInt(createHash("sha256").update(name).digest("hex").slice(0, 13), 16);
}

/** The version of the stored layout. Counters of another layout are verified as after a restart. */
const layout = 2;

/** @throws Error when INFO does not name the run */
function readServer(info: string): Server {
  const run = /^run_id:(\S+)/m.exec(info)?.[1];
  if (run === undefined) throw new Error("Cannot use Redis: its INFO has no run_id");
  return { run: runNamed(`${run} ${layout}`), clustered: /^cluster_enabled:1/m.test(info), isReplica: /^role:slave/m.test(info) };
}

const clusterSettings: Setting[] = [
  ...settings,
  {
    name: "cluster-require-full-coverage",
    wanted: "no",
    why: "without one master all others refuse, too, until its replica is promoted",
  },
];

/** Logs settings that endanger the counters. If settings may not be read, it logs nothing. @param configGet runs CONFIG GET */
async function warnOfSettings(
  { clustered }: Server,
  { configGet, log }: { configGet: (name: string) => Promise<unknown>; log: Logger },
): Promise<void> {
  for (const { name, wanted, why } of clustered ? clusterSettings : settings) {
    const value = settingIn(await configGet(name).catch(() => null), name);
    if (value !== null && value !== wanted) {
      log.warn({ event: "redis.setting", setting: name, value, wanted }, `Redis should run with "${name} ${wanted}": ${why}`);
    }
  }
}

/** @param reply a map by names */
function settingIn(reply: unknown, name: string): string | null {
  if (typeof reply !== "object" || reply === null) return null;
  const value: unknown = Reflect.get(reply, name);
  return typeof value === "string" ? value : null;
}

// One link, which never connects again

const connectMsMax = 1_000;
/** A connection that is silent for this long is given up, since each ping asks for a reply. */
const silenceMsMax = 2_000;
const pingMs = 500;
const callsInFlightMax = 5_000;

/** Called on each change of a link's state, never while the link is being made. */
interface LinkListener {
  opened(): void;
  /** Redis refuses a ping because it is busy or still loading: an error, but the connection stands. */
  refused(error: unknown): void;
  ended(reason: unknown): void;
}

interface LinkOptions {
  url: Secret;
  connect: ConnectRedis;
  clock: Clock;
  listener: LinkListener;
}

class RedisLink implements Disposable {
  readonly #client: RedisClient;
  readonly #clock: Clock;
  readonly #listener: LinkListener;
  #state: "connecting" | "open" | "ended" = "connecting";
  #cancelTimer: () => void;
  #inFlight = 0;
  /** Whether anything came since the last ping. */
  #isHeard = true;
  /** Consecutive pings without anything received. Elapsed time would blame Redis for a pause of this process. */
  #silentPings = 0;

  /** @throws Error when the URL is not one of Redis */
  constructor({ url, connect, clock, listener }: LinkOptions) {
    this.#clock = clock;
    this.#listener = listener;
    let isClosed = false;
    const closed = (reason: unknown): void => {
      isClosed = true;
      // While connecting, the first ping rejects with the true reason.
      if (this.#state === "open") this.#end(reason);
    };
    this.#client = connect({ url, connectMsMax, closed });
    this.#cancelTimer = clock.after(connectMsMax, () => this.#end(new Error(`Redis did not answer within ${connectMsMax} ms`)));
    this.#client.send("PING", []).then(
      () => this.#open(),
      (error: unknown) => (isClosed ? this.#end(error) : this.#open()),
    );
  }

  /** Sends at once or refuses: a waiting command would run after its caller has given up. @throws Error of Redis or of the connection */
  async send(command: string, parameters: readonly (string | Buffer)[]): Promise<unknown> {
    if (this.#state !== "open") throw new Error("The connection to Redis is not open");
    if (this.#inFlight >= callsInFlightMax) throw new Error(`More than ${callsInFlightMax} calls of Redis are in flight`);
    this.#inFlight++;
    try {
      return await this.#client.send(command, parameters);
    } finally {
      this.#inFlight--;
      this.#isHeard = true;
    }
  }

  /** Fails the calls in flight; the listener is not called. */
  [Symbol.dispose](): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#cancelTimer();
    this.#client.close();
  }

  #open(): void {
    if (this.#state !== "connecting") return;
    this.#state = "open";
    this.#cancelTimer();
    this.#schedulePing();
    this.#listener.opened();
  }

  #end(reason: unknown): void {
    if (this.#state === "ended") return;
    this[Symbol.dispose]();
    this.#listener.ended(reason);
  }

  #schedulePing(): void {
    this.#cancelTimer = this.#clock.after(pingMs, () => {
      this.#silentPings = this.#isHeard ? 0 : this.#silentPings + 1;
      if (this.#silentPings * pingMs >= silenceMsMax) return this.#end(new Error(`Redis was silent for ${silenceMsMax} ms`));
      if (this.#isHeard) this.#ping();
      this.#schedulePing();
    });
  }

  /** If nothing came since the last ping, that one still waits for its reply. */
  #ping(): void {
    this.#isHeard = false;
    this.send("PING", []).catch((error: unknown) => {
      if (this.#state === "open") this.#listener.refused(error);
    });
  }
}

// What a link needs from a client library

/** One connection to Redis, which never connects again. */
export interface RedisClient {
  /** The first command waits until the connection is open. @throws Error of Redis, or of the connection once it is lost */
  send(command: string, parameters: readonly (string | Buffer)[]): Promise<unknown>;
  /** Fails the commands in flight. */
  close(): void;
}

export interface RedisClientOptions {
  url: Secret;
  connectMsMax: number;
  /** The connection is lost, or could not be made; called at most once, before its commands fail, and not after `close`. */
  closed(reason: unknown): void;
}

/** Begins to connect. @throws Error when the URL is not one of Redis */
export type ConnectRedis = (options: RedisClientOptions) => RedisClient;
