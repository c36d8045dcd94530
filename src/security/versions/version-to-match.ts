/**
 * Chooses the version of a component to compare with advisories. The package URL's version comes first, because packages are matched by
 * URL; otherwise the displayed one counts. The platform of a gem is removed, because advisories do not name platforms.
 *
 * All spellings of one version (`v1.4.0` and `1.4.0`, `1.0` and `1.0.0`) have one key. A finding is about a key, and keeps the spelling in
 * which it was first found.
 */
import { createHash } from "node:crypto";
import { versionKeyBytesMax } from "../limits.ts";
import type { Ecosystem } from "./ecosystem.ts";
import { parsePackageUrl, type PackageUrl } from "./package-url.ts";
import { readVersion } from "./version.ts";

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

/** Most versions have this form, which every ecosystem reads in the same way. */
const plain = /^(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})$/;

/** Whether every ecosystem reads it: reading 300,000 of them would take more than a second. */
export function isPlainVersion(ecosystem: Ecosystem, text: string): boolean {
  return plain.test(ecosystem === "Go" && text.startsWith("v") ? text.slice(1) : text);
}

/**
 * The key of a version of a package: equal for two spellings of one version, empty for no version. A release has its numbers without
 * trailing zeros, another version what its parts compare by, and a text that is no version itself.
 */
export function versionKey({ ecosystem, version }: { ecosystem: Ecosystem; version: string | null }): string {
  if (version === null) return "";
  if (isPlainVersion(ecosystem, version)) return withoutZeros(version.replace("v", ""));
  const read = readVersion({ scheme: ecosystem, text: versionToMatch({ ecosystem, version, purl: null }) });
  if (!read.known) return storedVersion(version);
  const release = [...read.numbers, "0", "0"].slice(0, Math.max(read.numbers.length, 3)).join(".");
  const isRelease = read.numbers.length > 0 && keyOf(ecosystem, release) === read.key;
  return storedVersion(isRelease ? withoutZeros(release) : read.key);
}

function withoutZeros(release: string): string {
  let numbers = release;
  while (numbers.endsWith(".0")) numbers = numbers.slice(0, -2);
  return numbers;
}

function keyOf(scheme: Ecosystem, text: string): string | null {
  const read = readVersion({ scheme, text });
  return read.known ? read.key : null;
}

const beginningCharacters = 64;
const digestDigits = 16;

/**
 * A version as findings store it; empty for none. A text that is too long for the database's indexes is a version in no ecosystem: its
 * beginning and a digest of the whole are stored.
 */
export function storedVersion(version: string | null): string {
  if (version === null) return "";
  if (Buffer.byteLength(version) <= versionKeyBytesMax) return version;
  const digest = createHash("sha256").update(version).digest("hex").slice(0, digestDigits);
  return `${version.slice(0, beginningCharacters).toWellFormed()}… (sha256 ${digest})`;
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
