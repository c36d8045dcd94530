/**
 * A component's package URL, the only key for matching it with advisories. An invalid one is stored as written, with the
 * reason.
 */
import { PackageUrlError } from "../versions/package-url-parts.ts";
import { type PackageUrl, parsePackageUrl } from "../versions/package-url.ts";

export interface SbomPurl {
  written: string | null;
  parsed: PackageUrl | null;
  /** Why it is invalid; null if it is valid. */
  reason: string | null;
}

export function readPurl(written: string | null): SbomPurl {
  if (written === null) return { written, parsed: null, reason: "the document gives no package URL" };
  try {
    return { written, parsed: parsePackageUrl(written), reason: null };
  } catch (error) {
    if (!(error instanceof PackageUrlError)) throw error;
    return { written, parsed: null, reason: error.message };
  }
}
