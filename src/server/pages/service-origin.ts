/** The address under which people reach this service, for commands to copy. */

/** What a Host may consist of. Whoever sends anything else gets no address back. */
const hostPattern = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * @param publicOrigin the address that PUBLIC_URL names, which stands over the Host; null: it is not set
 * @returns such as `https://weir.example.com`; null: the Host is missing or is no host
 */
export function serviceOrigin({ headers, url }: Request, publicOrigin: string | null): string | null {
  if (publicOrigin !== null) return publicOrigin;
  const host = headers.get("host") ?? "";
  if (!hostPattern.test(host)) return null;
  // A proxy that ends TLS says so here. It decides nothing but what the sender itself reads.
  const secure = headers.get("x-forwarded-proto") === "https" || url.startsWith("https:");
  return `${secure ? "https" : "http"}://${host}`;
}
