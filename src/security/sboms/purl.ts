/** A component's package URL, by which alone it is matched with advisories; a wrong one is kept as it is written, with why. */
import { PackageUrlError } from "../versions/package-url-parts.ts";
import { type PackageUrl, parsePackageUrl } from "../versions/package-url.ts";

export interface SbomPurl {
  written: string | null;
  parsed: PackageUrl | null;
  /** Why there is no parsed one; null where there is. */
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
