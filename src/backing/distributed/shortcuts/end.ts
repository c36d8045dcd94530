import { timingSafeEqual } from "node:crypto";
import type { Socket } from "node:net";
import type { Clock } from "../../../kernel/clock.ts";
import type { Logger } from "../../../kernel/log.ts";
import { busConnectMs, busPayloadBytesMax, shortcutKeepAliveMs } from "../../../limits/constants.ts";
import { cutFrames, encodeFrame, type Frame } from "./frames.ts";

export interface ShortcutEndParts {
  socket: Socket;
  clock: Clock;
  log: Logger;
  /** What the other end must say before anything else, in time; else it is cut off. */
  password: string;
  greeted(): void;
  received(frame: Frame): void;
  closed(): void;
}

/** One end of a shortcut: frames in either direction, once the other end has proved that it read the offer. */
export class ShortcutEnd {
  readonly #socket: Socket;
  readonly #parts: ShortcutEndParts;
  #isGreeted = false;
  #rest: Buffer = Buffer.alloc(0);

  constructor(parts: ShortcutEndParts) {
    this.#parts = parts;
    this.#socket = parts.socket;
    const cancel = parts.clock.after(busConnectMs, () => this.#isGreeted || this.destroy());
    this.#socket.setNoDelay(true);
    this.#socket.setKeepAlive(true, shortcutKeepAliveMs);
    this.#socket.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#socket.on("error", () => {});
    this.#socket.on("close", () => {
      cancel();
      parts.closed();
    });
  }

  get greeted(): boolean {
    return this.#isGreeted;
  }

  say(password: string): void {
    this.#socket.write(password);
  }

  send(frame: Frame): void {
    this.#socket.write(encodeFrame(frame));
  }

  /** Closes it when what was sent is on its way. */
  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    try {
      if (!this.#isGreeted && !this.#hearsPassword()) return;
      const { frames, rest } = cutFrames(this.#rest, busPayloadBytesMax);
      this.#rest = rest;
      for (const frame of frames) this.#parts.received(frame);
    } catch (error) {
      this.#parts.log.error({ event: "bus.shortcut.failed", reason: String(error) });
      this.destroy();
    }
  }

  /** @returns whether it was said in full @throws Error when something else was */
  #hearsPassword(): boolean {
    const password = Buffer.from(this.#parts.password);
    if (this.#rest.length < password.length) return false;
    if (!timingSafeEqual(this.#rest.subarray(0, password.length), password)) throw new Error("The password is wrong");
    this.#rest = this.#rest.subarray(password.length);
    this.#isGreeted = true;
    this.#parts.greeted();
    return true;
  }
}
