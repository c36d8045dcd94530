import type { Body } from "./transport.ts";

/** `read` for who reads few pieces, and wants to wait for them. null: the body is over. Rejects with what broke it off. */
export function nextBytes(body: Body): Promise<Uint8Array | null> {
  return new Promise((resolve, reject) => body.read({ take: resolve, fail: reject }));
}
