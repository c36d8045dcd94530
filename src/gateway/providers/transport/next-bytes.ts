import type { Body } from "./transport.ts";

/**
 * `read` as a promise, for callers that read few pieces. Resolves with null at the end of the body; rejects with the reason why
 * it broke off.
 */
export function nextBytes(body: Body): Promise<Uint8Array | null> {
  return new Promise((resolve, reject) => body.read({ take: resolve, fail: reject }));
}
