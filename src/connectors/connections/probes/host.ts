import { BaseUrlError, parseBaseUrl } from "../../../http/outbound/base-url.ts";
import { CredentialError } from "../probe.ts";

/**
 * Parses the vendor's host of a customer: `acme`, `acme.vendor.com` or `https://acme.vendor.com/`.
 * @param ends the vendor's domains, the first for a bare name; credentials are sent to no other host
 * @returns the origin
 * @throws CredentialError
 */
export function vendorOrigin({ field, text, ends }: { field: string; text: string; ends: readonly string[] }): URL {
  const typed = text.trim();
  const named = /^[a-z0-9-]+$/i.test(typed) ? `${typed}.${ends[0] ?? ""}` : typed;
  try {
    const { hostname, port, origin } = parseBaseUrl(/^[a-z]+:\/\//i.test(named) ? named : `https://${named}`);
    if (port === "" && ends.some((end) => hostname.endsWith(`.${end}`))) return new URL(origin);
  } catch (error) {
    if (!(error instanceof BaseUrlError)) throw error;
  }
  throw new CredentialError(field, `a host of ${ends.join(" or ")} is needed`);
}
