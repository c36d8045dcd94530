/** Who may read /metrics on the port that clients use: a scraper on this machine, or whoever holds the operator's token. */
import { timingSafeEqual } from "node:crypto";
import type { Secret } from "./kernel/secret.ts";

/** What proxies write: behind one on this machine every client of the world would come from loopback. */
const forwarding = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];

/** @param address of the connection's other end; null: not known */
export function mayReadMetrics(request: Request, address: string | null, operatorToken: Secret): boolean {
  const forwarded = forwarding.some((name) => request.headers.has(name));
  return (isLoopback(address) && !forwarded) || bearsToken(request, operatorToken);
}

function isLoopback(address: string | null): boolean {
  return address !== null && /^(127\.|::1$|::ffff:127\.)/.test(address);
}

function bearsToken(request: Request, token: Secret): boolean {
  const given = Buffer.from(request.headers.get("authorization")?.replace(/^bearer +/i, "") ?? "");
  const wanted = Buffer.from(token.reveal());
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
