/** Checks a vendor's address from a user. The service calls it, so it must not lead into the service's own network. */
import { isIP } from "node:net";
import { trimmedEnd } from "../../kernel/trim-end.ts";
import { isPublicAddress } from "./public-address.ts";

/** The message says what the address must be; the caller adds the name of the field. */
export class BaseUrlError extends Error {
  override name = "BaseUrlError";
}

/**
 * Endings of names that are valid only within a network (RFC 6762, RFC 8375, ICANN's `.internal`), in Kubernetes, or in the hosts
 * files of Linux distributions, where `localhost.localdomain` is the machine itself.
 */
const privateSuffixes = ["localhost", "localdomain", "local", "internal", "svc", "home.arpa"];

/**
 * The URL standard normalizes every spelling of an address (hexadecimal, octal, one number, full-width digits, percent signs) before
 * the check. The addresses of a name are checked when connecting.
 * @throws BaseUrlError
 */
export function parseBaseUrl(text: string): URL {
  const url = URL.parse(text.trim());
  if (url?.protocol !== "https:") throw new BaseUrlError("an https address is needed");
  if (url.username !== "" || url.password !== "") throw new BaseUrlError("an address without a user and a password is needed");
  if (url.search !== "" || url.hash !== "") throw new BaseUrlError('an address that ends before any "?" and "#" is needed');
  requirePublicHost(url);
  return url;
}

/** @throws BaseUrlError if the spelling of the host shows that it is within a network */
export function requirePublicHost({ hostname }: URL): void {
  const host = trimmedEnd(hostname, ".");
  const address = host.replace(/^\[(.*)\]$/, "$1");
  if (isIP(address) !== 0) {
    if (!isPublicAddress(address)) throw new BaseUrlError("an address that is reachable from everywhere is needed");
    return;
  }
  const isPrivate = privateSuffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
  if (isPrivate || !host.includes(".")) throw new BaseUrlError("a host with a public name is needed");
}
