/**
 * One connection to Redis, from dialling to its end: it is never made again, for whoever holds it makes the next one. Whatever its end
 * is, it is told once, and nothing is told after it. An answer to the first ping opens it; before that and after its end it takes no call.
 * Bun's own client, for a call costs a third of what clients in JavaScript need. Its way of connecting anew is not used.
 */
import { RedisClient } from "bun";
import type { Clock } from "../../kernel/clock.ts";
import type { Secret } from "../../kernel/secret.ts";

const connectMsMax = 1_000;
/** A connection on which nothing came for this long is given up: each ping asks for an answer. */
const silenceMsMax = 2_000;
const pingMs = 500;
const callsUnderWayMax = 5_000;

/** Told of what becomes of a link, never while it is being made. */
export interface LinkListener {
  opened(): void;
  /** Redis refuses a ping, for it is busy or still loading: an error, but the connection stands. */
  refused(error: unknown): void;
  ended(reason: unknown): void;
}

export class RedisLink implements Disposable {
  readonly #client: RedisClient;
  readonly #clock: Clock;
  readonly #listener: LinkListener;
  #state: "dialled" | "open" | "ended" = "dialled";
  #cancelTimer: () => void;
  #underWay = 0;
  /** Whether anything came since the last ping. */
  #isHeard = true;
  /** Pings in whose time nothing came, one after the other. Time alone would blame Redis for a pause of this process. */
  #silentPings = 0;

  /** @throws Error when the URL is none of Redis */
  constructor({ url, clock, listener }: { url: Secret; clock: Clock; listener: LinkListener }) {
    this.#clock = clock;
    this.#listener = listener;
    this.#client = dial(url);
    this.#cancelTimer = clock.after(connectMsMax, () => this.#end(new Error(`Redis did not answer within ${connectMsMax} ms`)));
    let isClosed = false;
    this.#client.onclose = (error) => {
      isClosed = true;
      if (this.#state === "open") this.#end(error);
    };
    // Closing and connecting tell no reason, such as a wrong password or a certificate; the command that waited for them does.
    this.#client.connect().catch(() => {});
    this.#client.send("PING", []).then(
      () => this.#open(),
      (error: unknown) => (isClosed ? this.#end(error) : this.#open()),
    );
  }

  /** Sends at once or refuses: a command that waits would run when nobody wants it any more. @throws Error of Redis or of the connection */
  async send(command: string, words: readonly (string | Buffer)[]): Promise<unknown> {
    if (this.#state !== "open") throw new Error("The connection to Redis is not open");
    if (this.#underWay >= callsUnderWayMax) throw new Error(`More than ${callsUnderWayMax} calls of Redis are under way`);
    this.#underWay++;
    try {
      return await this.#client.send(command, asTexts(words));
    } finally {
      this.#underWay--;
      this.#isHeard = true;
    }
  }

  /** Fails what is under way, and tells nobody. */
  [Symbol.dispose](): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#cancelTimer();
    this.#client.close();
  }

  #open(): void {
    if (this.#state !== "dialled") return;
    this.#state = "open";
    this.#cancelTimer();
    this.#beat();
    this.#listener.opened();
  }

  #end(reason: unknown): void {
    if (this.#state === "ended") return;
    this[Symbol.dispose]();
    this.#listener.ended(reason);
  }

  #beat(): void {
    this.#cancelTimer = this.#clock.after(pingMs, () => {
      this.#silentPings = this.#isHeard ? 0 : this.#silentPings + 1;
      if (this.#silentPings * pingMs >= silenceMsMax) return this.#end(new Error(`Redis was silent for ${silenceMsMax} ms`));
      if (this.#isHeard) this.#ping();
      this.#beat();
    });
  }

  /** Where nothing came since the last one, that one is still to be answered. */
  #ping(): void {
    this.#isHeard = false;
    this.send("PING", []).catch((error: unknown) => {
      if (this.#state === "open") this.#listener.refused(error);
    });
  }
}

/** Its queue stays switched on for the first ping alone, which waits in it: a link that is not open sends nothing else. */
function dial(url: Secret): RedisClient {
  return new RedisClient(url.reveal(), { autoReconnect: false, connectionTimeout: connectMsMax });
}

/** The client sends bytes as they are, zero bytes and all; its types know of texts alone. */
function asTexts(words: readonly (string | Buffer)[]): string[] {
  return words as string[];
}
