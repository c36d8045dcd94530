/**
 * Chooses the version of a component to compare with advisories. The package URL's version comes first, because packages are matched by
 * URL; otherwise the displayed one counts. The platform of a gem is removed, because advisories do not name platforms.
 */
import type { Ecosystem } from "./ecosystem.ts";
import { parsePackageUrl, type PackageUrl } from "./package-url.ts";

interface ComponentVersion {
  ecosystem: Ecosystem;
  /** As in the document, and as displayed. */
  version: string;
  /** As in the document; null if it is missing or invalid. */
  purl: string | null;
}

/** `1.16.0-x86_64-linux` of a gem becomes 1.16.0. */
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

/** Source of platforms: https://docs.ruby-lang.org/en/master/Gem/Platform.html */
const processor =
  /^(?:x86|x86_64|x64|i[3-6]86|amd64|universal|aarch64|arm|arm64|armv\d\w*|ppc|ppc64|ppc64le|powerpc|powerpc64|powerpc64le|s390x?|riscv64|loongarch64|mips\w*|sparc\w*)$/;
/** Follows a processor. The rest of the text, such as the system's version, is ignored. */
const system = /^(?:linux|darwin|macosx|mingw|mswin|freebsd|openbsd|netbsd|dragonfly|solaris|aix|cygwin|android|dalvik|java)/;
/** Appears without a processor, at the end. At most three parts. */
const systemAlone = /^(?:mingw32|x64-mingw-ucrt|mswin(?:32|64)(?:-\d+)?|java|jruby|dalvik\d*|ruby)$/;

function withoutPlatform(version: string, named: string | null): string {
  if (named !== null && version.endsWith(`-${named}`)) return version.slice(0, -named.length - 1);
  if (!/^[\w.-]+$/.test(version)) return version;
  const parts = version.split("-");
  const isPlatform = (part: string, at: number): boolean =>
    (processor.test(part) && system.test(parts[at + 1] ?? "")) || systemAlone.test(parts.slice(at, at + 3).join("-"));
  const end = parts.findIndex((part, at) => at > 0 && isPlatform(part, at));
  return end === -1 ? version : parts.slice(0, end).join("-");
}
