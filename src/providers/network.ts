/**
 * The network as a transport. fetch tells nothing of connecting, so a host that swallows packets would hold a call until the
 * first-byte clock. Hence an origin that has not answered of late is dialled first: TCP, and TLS where it is https.
 */
import type { Clock } from "../kernel/clock.ts";
import { originTrustMs } from "../limits/constants.ts";
import { dial } from "./dial.ts";
import type { UpstreamFailure } from "./provider.ts";
import type { PostInit, Transport } from "./transport.ts";

const networks = new WeakMap<Clock, Network>();

/** One for each clock, hence one in a process: calls share what they learn of an origin. */
export function networkOf(clock: Clock): Transport {
  const known = networks.get(clock) ?? new Network(clock);
  networks.set(clock, known);
  return known;
}

/** Of Bun: without these its own timer ends a silent call after about 300 s, and proxy variables would be read behind our back. */
const bunOptions = { timeout: false, proxy: false } as const;

export class Network implements Transport {
  readonly #clock: Clock;
  readonly #dial: typeof dial;
  /** Origin → monotonic milliseconds of its last sign of life. The catalog's providers bound their number. */
  readonly #alive = new Map<string, number>();
  readonly #dialling = new Map<string, Promise<UpstreamFailure | null>>();

  constructor(clock: Clock, dialer: typeof dial = dial) {
    this.#clock = clock;
    this.#dial = dialer;
  }

  reach(url: URL, connectMs: number): Promise<UpstreamFailure | null> | null {
    const aliveAt = this.#alive.get(url.origin) ?? -Infinity;
    if (this.#clock.monotonic() - aliveAt < originTrustMs) return null;
    const dialling = this.#dialling.get(url.origin) ?? this.#dialOnce(url, connectMs);
    this.#dialling.set(url.origin, dialling);
    return dialling;
  }

  async #dialOnce(url: URL, connectMs: number): Promise<UpstreamFailure | null> {
    try {
      const failure = await this.#dial({ url, connectMs, clock: this.#clock });
      if (failure === null) this.#alive.set(url.origin, this.#clock.monotonic());
      return failure;
    } finally {
      this.#dialling.delete(url.origin);
    }
  }

  async post(url: URL, init: PostInit): Promise<Response> {
    try {
      const response = await fetch(url, { method: "POST", redirect: "manual", ...bunOptions, ...init });
      this.#alive.set(url.origin, this.#clock.monotonic());
      return response;
    } catch (error) {
      this.#alive.delete(url.origin);
      throw error;
    }
  }
}
