/** Which version of a component is held against advisories: what is shown may say more than the version. */
import type { Ecosystem } from "./ecosystem.ts";
import { parsePackageUrl, type PackageUrl } from "./package-url.ts";

export interface ComponentVersion {
  ecosystem: Ecosystem;
  /** As the document gives it, and as it is shown. */
  version: string;
  /** As the document gives it; null: none, or one that cannot be read. */
  purl: string | null;
}

/**
 * The package URL's version where it has one, since packages are matched by it; else the one shown. Of a gem the platform that
 * it was built for is taken off: `1.16.0-x86_64-linux` is 1.16.0, and advisories know no platforms.
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
/** What follows a system, such as its version, is not looked at: it would be tried from each place that looks like a platform. */
const platform = new RegExp(
  `-(?:(?:${processors})-(?:${systems}).*|(?:mingw32|x64-mingw-ucrt|mswin(?:32|64)(?:-\\d+)?|java|jruby|dalvik\\d*|ruby)$)`,
  "s",
);

function withoutPlatform(version: string, named: string | null): string {
  if (named !== null && version.endsWith(`-${named}`)) return version.slice(0, -named.length - 1);
  return /^[\w.-]+$/.test(version) ? version.replace(platform, "") : version;
}
