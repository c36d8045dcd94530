/**
 * An asker's shortcuts: connections to servers that spare a question the way over NATS, which is half of its time and most of its
 * cost while few are asked. They are an economy: where there is none, or one is in doubt, questions go over NATS.
 */
import { createConnection } from "node:net";
import type { Clock } from "../../../kernel/clock.ts";
import type { Logger } from "../../../kernel/log.ts";
import { admissionDeadlineMs, shortcutRetryMs } from "../../../limits/constants.ts";
import type { Frame } from "./frames.ts";
import { ShortcutEnd } from "./end.ts";
import { decodeOffer, type ShortcutOffer } from "./offer.ts";

export interface ShortcutsParts {
  clock: Clock;
  log: Logger;
  answered(frame: Frame): void;
}

interface Shortcut {
  end: ShortcutEnd;
  /** Ends the doubt about it; null: there is none. */
  trust: (() => void) | null;
}

export class Shortcuts implements Disposable {
  readonly #parts: ShortcutsParts;
  readonly #shortcuts = new Map<string, Shortcut>();
  /** Ends the pauses before closed ones are made anew. */
  readonly #pauses = new Map<string, () => void>();
  #isClosed = false;

  constructor(parts: ShortcutsParts) {
    this.#parts = parts;
  }

  /** A server beats. */
  heard(server: string, text: string): void {
    if (this.#shortcuts.has(server) || this.#pauses.has(server)) return;
    const offer = decodeOffer(text);
    if (offer !== null) this.#open(server, offer);
  }

  /** @returns false where it must go over NATS */
  send(server: string, frame: Frame): boolean {
    const shortcut = this.#shortcuts.get(server);
    if (!shortcut?.end.greeted || shortcut.trust !== null) return false;
    shortcut.end.send(frame);
    return true;
  }

  /** A question was left unanswered. Nobody waits for what it brings after the questions' deadline. */
  doubt(server: string): void {
    const shortcut = this.#shortcuts.get(server);
    if (shortcut) shortcut.trust ??= this.#parts.clock.after(admissionDeadlineMs, () => shortcut.end.destroy());
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const { end } of this.#shortcuts.values()) end.destroy();
    for (const cancel of this.#pauses.values()) cancel();
  }

  #open(server: string, { host, port, askPassword, servePassword }: ShortcutOffer): void {
    const { clock, log, answered } = this.#parts;
    const end: ShortcutEnd = new ShortcutEnd({
      ...this.#parts,
      socket: createConnection({ host, port }),
      password: servePassword,
      greeted: () => log.info({ event: "bus.shortcut.open", server }),
      received: (frame) => {
        this.#trust(shortcut);
        answered(frame);
      },
      closed: () => {
        this.#trust(shortcut);
        log.info({ event: "bus.shortcut.closed", server, used: end.greeted });
        this.#shortcuts.delete(server);
        if (this.#isClosed) return;
        this.#pauses.set(
          server,
          clock.after(shortcutRetryMs, () => this.#pauses.delete(server)),
        );
      },
    });
    const shortcut: Shortcut = { end, trust: null };
    end.say(askPassword);
    this.#shortcuts.set(server, shortcut);
  }

  #trust(shortcut: Shortcut): void {
    shortcut.trust?.();
    shortcut.trust = null;
  }
}
