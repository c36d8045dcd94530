/** Check 2: turns the bytes of a body into a request that can be priced and sent. */
import { checkChat } from "../../src/gateway/api/request/chat-request.ts";
import type { Microbenchmark } from "./benchmark.ts";

const sizes = { "1 KiB": 1_024, "100 KiB": 100 * 1_024, "1 MiB": 1_024 * 1_024 };
const messageBytes = 512;

/** A conversation of many messages. */
function bodyOf(bytes: number): Uint8Array {
  const content = "It is all in the way you look at it. ".repeat(20).slice(0, messageBytes);
  const count = Math.max(1, Math.floor(bytes / (messageBytes + 36)));
  const messages = Array.from({ length: count }, (_, n) => ({ role: n % 2 === 0 ? "user" : "assistant", content }));
  return new TextEncoder().encode(JSON.stringify({ model: "bench/instant-16", messages, max_tokens: 16, temperature: 0.5 }));
}

export const bodyCheck: Microbenchmark = {
  unit: "request",
  async prepare() {
    return Object.entries(sizes).map(([name, bytes]) => {
      const body = bodyOf(bytes);
      return { name, units: 1, call: () => checkChat(body, { find: () => null }) };
    });
  },
};
