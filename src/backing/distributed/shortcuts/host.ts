/** A server's end of the shortcuts to it: it listens where NATS sees it, and its beats say so. */
import { randomBytes } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";
import type { Clock } from "../../../kernel/clock.ts";
import type { Logger } from "../../../kernel/log.ts";
import { shortcutsMax } from "../../../limits/constants.ts";
import type { NatsLink } from "../nats-link.ts";
import { ShortcutEnd } from "./end.ts";
import { encodeOffer } from "./offer.ts";

export interface ShortcutHostParts {
  link: NatsLink;
  clock: Clock;
  log: Logger;
  /** Takes a question; `reply` may be called once. */
  take: (payload: Uint8Array, reply: (answer: Uint8Array) => void) => void;
}

export class ShortcutHost implements Disposable {
  readonly #parts: ShortcutHostParts;
  readonly #askPassword = newPassword();
  readonly #servePassword = newPassword();
  readonly #ends = new Set<ShortcutEnd>();
  readonly #watching: Disposable;
  #server: Server | null = null;
  #offer = "";

  constructor(parts: ShortcutHostParts) {
    this.#parts = parts;
    this.#watching = parts.link.watch({ up: () => this.#listen() });
    this.#listen();
  }

  /** What the beats tell; empty while nobody can be let in. */
  get offer(): string {
    return this.#offer;
  }

  [Symbol.dispose](): void {
    this.#watching[Symbol.dispose]();
    this.#offer = "";
    this.#server?.close();
    for (const end of this.#ends) end.end();
  }

  /** Where NATS sees us under an address that is not ours (it was translated on the way) there are no shortcuts. */
  #listen(): void {
    const host = this.#parts.link.plainAddress;
    if (this.#server !== null || host === null) return;
    const server = createServer((socket) => this.#welcome(socket));
    this.#server = server;
    server.maxConnections = shortcutsMax;
    server.on("error", (error) => {
      this.#parts.log.info({ event: "bus.shortcuts.none", reason: String(error) });
      server.close();
      this.#server = null;
      this.#offer = "";
    });
    server.listen(0, host, () => {
      const address = server.address();
      if (address === null || typeof address === "string") return;
      const [askPassword, servePassword] = [this.#askPassword, this.#servePassword];
      this.#offer = encodeOffer({ host, port: address.port, askPassword, servePassword });
    });
  }

  #welcome(socket: Socket): void {
    const end: ShortcutEnd = new ShortcutEnd({
      ...this.#parts,
      socket,
      password: this.#askPassword,
      greeted: () => end.say(this.#servePassword),
      received: (frame) => this.#parts.take(frame.payload, (payload) => end.send({ ...frame, payload })),
      closed: () => void this.#ends.delete(end),
    });
    this.#ends.add(end);
  }
}

function newPassword(): string {
  return randomBytes(16).toString("hex");
}
