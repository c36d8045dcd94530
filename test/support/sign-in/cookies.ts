/** The cookies that an answer sets, as a browser sends them back; a browser drops ended ones. */
export function cookiesOf({ headers }: { headers: Headers }): string {
  const pairs = headers.getSetCookie().map((cookie) => cookie.split(";", 1)[0] ?? "");
  return pairs.filter((pair) => !pair.endsWith("=")).join("; ");
}
