/**
 * Bounds the bytes that current requests hold together, per process, per workspace and per key. A part of the total is for small bodies
 * only, so that large ones never block small ones. A request returns all its bytes at once, when its lease is disposed of.
 */
import { budgetRetryMs } from "../limits.ts";
import { HolderCounts } from "./fair-semaphore.ts";
import { LimitReachedError } from "../errors.ts";

interface ByteLimits {
  totalBytes: number;
  perWorkspaceBytes: number;
  perKeyBytes: number;
  /** The part of the total that only bodies up to `smallBytes` may use, so that large ones never block small ones. */
  reserve?: { bytes: number; smallBytes: number };
}

export interface ByteHolder {
  key: string;
  workspace: string;
}

/** The bytes that one request holds; returned all at once. */
export class ByteLease implements Disposable {
  readonly #budget: ByteBudget;
  readonly #holder: ByteHolder;
  #bytes = 0;

  constructor(budget: ByteBudget, holder: ByteHolder) {
    this.#budget = budget;
    this.#holder = holder;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @throws LimitReachedError 429 if the key or its workspace holds too much, 503 if all requests together do */
  grow(bytes: number): void {
    this.#budget.take(this.#holder, { bytes, before: this.#bytes });
    this.#bytes += bytes;
  }

  /** @returns false where `grow` would throw */
  growIfFree(bytes: number): boolean {
    const isFree = this.#budget.takeIfFree(this.#holder, { bytes, before: this.#bytes }) === null;
    if (isFree) this.#bytes += bytes;
    return isFree;
  }

  [Symbol.dispose](): void {
    this.#budget.giveBack(this.#holder, this.#bytes);
    this.#bytes = 0;
  }
}

export class ByteBudget {
  readonly #limits: ByteLimits;
  readonly #held = new HolderCounts();
  #total = 0;

  constructor(limits: ByteLimits) {
    this.#limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  lease(holder: ByteHolder): ByteLease {
    return new ByteLease(this, holder);
  }

  /** @param before bytes that the same request holds already. @throws LimitReachedError */
  take(holder: ByteHolder, more: { bytes: number; before: number }): void {
    const refused = this.takeIfFree(holder, more);
    if (refused !== null) throw refused();
  }

  /** @returns null: taken; otherwise what makes the error */
  takeIfFree(
    { key, workspace }: ByteHolder,
    { bytes, before }: { bytes: number; before: number },
  ): (() => LimitReachedError) | null {
    const { totalBytes, perWorkspaceBytes, perKeyBytes, reserve } = this.#limits;
    const small = reserve !== undefined && before + bytes <= reserve.smallBytes;
    const total = totalBytes - (small ? 0 : (reserve?.bytes ?? 0));
    if (this.#held.of(key) + bytes > perKeyBytes) return () => refusal(429, "of this key", perKeyBytes);
    if (this.#held.of(workspace) + bytes > perWorkspaceBytes) return () => refusal(429, "of this workspace", perWorkspaceBytes);
    if (this.#total + bytes > total) return () => refusal(503, "of all callers", total);
    this.#held.add(key, bytes);
    this.#held.add(workspace, bytes);
    this.#total += bytes;
    return null;
  }

  giveBack({ key, workspace }: ByteHolder, bytes: number): void {
    if (bytes === 0) return;
    this.#held.add(key, -bytes);
    this.#held.add(workspace, -bytes);
    this.#total -= bytes;
  }
}

function refusal(status: 429 | 503, whose: string, max: number): LimitReachedError {
  const message = `Request bodies ${whose} already hold the maximum of ${max} bytes: try again when one has ended`;
  return new LimitReachedError(message, { status, retryAfterMs: budgetRetryMs });
}
