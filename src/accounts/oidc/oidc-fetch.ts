/** Calls of the provider: bounded in size and time, without redirects. The operator chose it, so it may be within the own network. */
import type { CustomFetch } from "openid-client";
import type { Clock } from "../../kernel/clock.ts";
import { createSafeFetch } from "../../http/outbound/safe-fetch.ts";
import { oidcAnswerBytesMax, oidcCallMs } from "../limits.ts";

/** There was no usable answer, through no fault of the person who signs in. */
export class ProviderUnavailableError extends Error {
  override name = "ProviderUnavailableError";
}

export function oidcFetch(clock: Clock): CustomFetch {
  const safeFetch = createSafeFetch({ clock, configured: () => true });
  return async (address, { method, headers, body }) => {
    const url = new URL(address);
    requireTrustworthy(url);
    const answer = await safeFetch({
      method: method === "POST" ? "POST" : "GET",
      url,
      headers,
      body: method === "POST" ? textOf(body) : undefined,
      answerBytesMax: oidcAnswerBytesMax,
      deadlineMs: oidcCallMs,
      what: "The OpenID Connect provider",
    }).catch((cause: unknown) => {
      throw new ProviderUnavailableError("The provider did not answer", { cause });
    });
    if (answer.status >= 500 || answer.status === 429)
      throw new ProviderUnavailableError(`The provider answered ${answer.status}`);
    const type = answer.headers["content-type"];
    return new Response(Uint8Array.from(answer.body), {
      status: answer.status,
      headers: type === undefined ? {} : { "content-type": type },
    });
  };
}

/** Its description names the other addresses. Plain http is left to this machine. */
function requireTrustworthy({ protocol, hostname }: URL): void {
  const isHere = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  if (protocol === "https:" || (protocol === "http:" && isHere)) return;
  throw new ProviderUnavailableError("The provider's description names an address without TLS");
}

function textOf(body: unknown): string {
  return body instanceof URLSearchParams || typeof body === "string" ? String(body) : "";
}
