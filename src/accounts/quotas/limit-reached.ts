/** The caller, its workspace or the whole process has reached a limit; the same request may succeed after a wait. */
export class LimitReachedError extends Error {
  override name = "LimitReachedError";
  /** 429: a limit of the caller or its workspace; 503: one that all callers share. */
  readonly status: 429 | 503;
  /** Milliseconds; at least 1. */
  readonly retryAfterMs: number;

  /** @param message a sentence that names the limit, without a period */
  constructor(message: string, { status, retryAfterMs }: { status: 429 | 503; retryAfterMs: number }) {
    super(message);
    this.status = status;
    this.retryAfterMs = Math.max(1, Math.ceil(retryAfterMs));
  }
}

/** The header `Retry-After`: whole seconds, rounded up. */
export function retryAfterHeader({ retryAfterMs }: LimitReachedError): Record<string, string> {
  return { "retry-after": String(Math.ceil(retryAfterMs / 1_000)) };
}
