/**
 * One connection to Redis, from connecting to its end; its owner makes the next one. Whatever ends it, the listener is called once, and not
 * after that. The reply to the first ping opens it; before that and after its end it takes no call, because a command that waits would run
 * when its caller has given up. A link on which nothing comes for some pings is given up. Pings are counted and not milliseconds: elapsed
 * time would blame Redis for a pause of this process.
 */
import type { Clock } from "../../kernel/clock.ts";
import type { Secret } from "../../kernel/secret.ts";

const connectMsMax = 1_000;
/** A connection on which nothing came for this long is given up: each ping asks for a reply. */
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

export class RedisLink implements Disposable {
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

  /** Sends at once or refuses: a command that waits would run when its caller has given up. @throws Error of Redis or of the connection */
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

  /** Where nothing came since the last ping, that one still waits for its reply. */
  #ping(): void {
    this.#isHeard = false;
    this.send("PING", []).catch((error: unknown) => {
      if (this.#state === "open") this.#listener.refused(error);
    });
  }
}

// What a link needs of a client library

/** One connection to Redis, which never connects again. */
export interface RedisClient {
  /** The first command waits until the connection is open. @throws Error of Redis, or of the connection once it is lost */
  send(command: string, parameters: readonly (string | Buffer)[]): Promise<unknown>;
  /** Fails the commands that are under way. */
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
