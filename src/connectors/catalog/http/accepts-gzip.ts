/** Whether `Accept-Encoding` prefers gzip to no encoding (RFC 9110, 12.5.3). */
export function acceptsGzip(header: string | null): boolean {
  const weights = new Map((header ?? "").toLowerCase().split(",").map(weighted));
  const gzip = weights.get("gzip") ?? weights.get("x-gzip") ?? weights.get("*") ?? 0;
  return gzip > 0 && gzip >= (weights.get("identity") ?? 0);
}

function weighted(item: string): [coding: string, weight: number] {
  const [coding = "", ...parameters] = item.split(";").map((part) => part.trim());
  const [weight = 1] = parameters.filter((one) => one.startsWith("q=")).map((one) => Number(one.slice(2)));
  return [coding, Number.isFinite(weight) ? weight : 0];
}
