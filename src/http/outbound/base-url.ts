/** Addresses that a user gives for a vendor: the service calls them, so they must not lead into the network that it stands in. */
import { isIP } from "node:net";
import { trimmedEnd } from "../../kernel/trim-end.ts";
import { isPublicAddress } from "./public-address.ts";

/** Says what the address must be; the field that holds it is named by who asks. */
export class BaseUrlError extends Error {
  override name = "BaseUrlError";
}

/**
 * Ends of names that are given out for use within a network alone (RFC 6762, RFC 8375, ICANN's `.internal`), by Kubernetes, or by
 * the hosts files of Linux distributions, where `localhost.localdomain` is the machine itself.
 */
const inwardEnds = ["localhost", "localdomain", "local", "internal", "svc", "home.arpa"];

/**
 * The URL standard brings every spelling of an address (hexadecimal, octal, one number, full-width digits, percent signs) into
 * one, which is then judged. What a name stands for is judged when connecting.
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

/** @throws BaseUrlError when the host is, by its spelling alone, within a network */
export function requirePublicHost({ hostname }: URL): void {
  const host = trimmedEnd(hostname, ".");
  const address = host.replace(/^\[(.*)\]$/, "$1");
  if (isIP(address) !== 0) {
    if (!isPublicAddress(address)) throw new BaseUrlError("an address that is reachable from everywhere is needed");
    return;
  }
  const inward = inwardEnds.some((end) => host === end || host.endsWith(`.${end}`));
  if (inward || !host.includes(".")) throw new BaseUrlError("a host with a public name is needed");
}
