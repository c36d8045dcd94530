/** Ids of advisories. Databases write the same id in several spellings. */

/** One spelling for equal ids: CVE and GHSA ids as their databases write them, all others unchanged. */
export function canonicalId(id: string): string {
  const trimmed = id.trim();
  if (/^cve-/i.test(trimmed)) return trimmed.toUpperCase();
  return /^ghsa-/i.test(trimmed) ? `GHSA-${trimmed.slice(5).toLowerCase()}` : trimmed;
}

export function isCve(id: string): boolean {
  return /^CVE-\d{4}-\d{4,}$/.test(id);
}

export function isGhsa(id: string): boolean {
  return id.startsWith("GHSA-");
}
