/** Who may call the control API, read /metrics and see in /ready what is wrong: whoever holds the operator's token. */
import { createHash, timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "../kernel/clock.ts";
import type { Secret } from "../kernel/secret.ts";
import { wrongTokenAddressesMax, wrongTokensMax, wrongTokensPerSecond } from "./limits.ts";
import { DomainError } from "../accounts/errors.ts";

/** How many more wrong tokens an address may send, as of a time. */
interface Allowance {
  left: number;
  atMs: number;
}

/**
 * Compares tokens, and stops comparing for an address that sends too many wrong ones: its right token, too, waits then, for else
 * the answers would tell which guess was right. A request without a token is no guess.
 */
export class OperatorGate {
  readonly #digest: Buffer;
  readonly #clock: Clock;
  readonly #allowances = new LRUCache<string, Allowance>({ max: wrongTokenAddressesMax });

  constructor(token: Secret, clock: Clock) {
    this.#digest = digest(token.reveal());
    this.#clock = clock;
  }

  /**
   * Lets the operator token pass and nothing else: no API key of either kind is one.
   * @param address of the connection's other end; null: not known
   * @throws DomainError unauthorized, with one message for all causes; rate_limited
   */
  authorize(request: Request, address: string | null): void {
    const [, given] = /^bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    if (given === undefined) throw unauthorized();
    const allowance = this.#allowance(address ?? "");
    if (allowance.left < 1) throw tooMany();
    // Digests have one length, so that comparing them tells nothing of the token's.
    if (timingSafeEqual(digest(given), this.#digest)) return;
    this.#allowances.set(address ?? "", { ...allowance, left: allowance.left - 1 });
    throw unauthorized();
  }

  /** As `authorize`, for what shows others less. */
  isOperator(request: Request, address: string | null): boolean {
    try {
      this.authorize(request, address);
      return true;
    } catch (error) {
      if (error instanceof DomainError) return false;
      throw error;
    }
  }

  #allowance(address: string): Allowance {
    const nowMs = this.#clock.now();
    const { left, atMs } = this.#allowances.get(address) ?? { left: wrongTokensMax, atMs: nowMs };
    const regained = (Math.max(0, nowMs - atMs) / 1_000) * wrongTokensPerSecond;
    return { left: Math.min(wrongTokensMax, left + regained), atMs: nowMs };
  }
}

function unauthorized(): DomainError {
  return new DomainError("unauthorized", "Send the operator token as a Bearer token");
}

function tooMany(): DomainError {
  const message = "Too many wrong tokens came from this address: none is looked at for a second";
  return new DomainError("rate_limited", message);
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
