/** Chooses the version of a component to compare with advisories: the displayed one may contain more. */
import type { Ecosystem } from "./ecosystem.ts";
import { parsePackageUrl, type PackageUrl } from "./package-url.ts";

export interface ComponentVersion {
  ecosystem: Ecosystem;
  /** As in the document, and as displayed. */
  version: string;
  /** As in the document; null if it is missing or invalid. */
  purl: string | null;
}

/**
 * The package URL's version if it has one, because packages are matched by it; otherwise the displayed one. A gem's platform is
 * removed: `1.16.0-x86_64-linux` is 1.16.0, because advisories do not name platforms.
 */
export function versionToMatch({ ecosystem, version, purl }: ComponentVersion): string {
  const url = purl === null ? null : readUrl(purl);
  const named = url?.version ?? version;
  return ecosystem === "RubyGems" ? withoutPlatform(named, url?.qualifiers.get("platform") ?? null) : named;
}

function readUrl(purl: string): PackageUrl | null {
  try {
    return parsePackageUrl(purl);
  } catch {
    return null;
  }
}

/** Processor and system, or a system alone. Source: https://docs.ruby-lang.org/en/master/Gem/Platform.html */
const processors =
  "x86|x86_64|x64|i[3-6]86|amd64|universal|aarch64|arm|arm64|armv\\d\\w*|ppc|ppc64|ppc64le|powerpc|powerpc64|powerpc64le|s390x?|riscv64|loongarch64|mips\\w*|sparc\\w*";
const systems =
  "linux|darwin|macosx|mingw|mingw32|mswin|mswin32|mswin64|freebsd|openbsd|netbsd|dragonfly|solaris|aix|cygwin|android|dalvik|java";
/** Text after a system, such as its version, is ignored: otherwise every possible platform would be tried. */
const platform = new RegExp(
  `-(?:(?:${processors})-(?:${systems}).*|(?:mingw32|x64-mingw-ucrt|mswin(?:32|64)(?:-\\d+)?|java|jruby|dalvik\\d*|ruby)$)`,
  "s",
);

function withoutPlatform(version: string, named: string | null): string {
  if (named !== null && version.endsWith(`-${named}`)) return version.slice(0, -named.length - 1);
  return /^[\w.-]+$/.test(version) ? version.replace(platform, "") : version;
}
