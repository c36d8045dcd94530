/**
 * The content of a lock file in any format: the packages that it pins as package URLs, their dependencies, and what it names without
 * pinning.
 *
 * A reader adds packages and dependencies to the builder. A repeated package counts once, and a package that is required anywhere is
 * required. If a format does not mark direct dependencies, packages that no other package needs are direct. If it does not mark development
 * dependencies, packages get no scope. A name or version that is impossible in its ecosystem is a `LockFileError`, the only error of
 * reading a lock file.
 */
import { byCodeUnits } from "../../kernel/text.ts";
import { lockFileNeedsMax, lockFilePackagesMax, lockFileSkippedMax, lockFileTextCharactersMax } from "../limits.ts";
import { type Ecosystem, packageUrlTypeOf } from "../versions/ecosystem.ts";
import { PackageUrlError, parsePackageUrl, printPackageUrl } from "../versions/package-url.ts";

/** In CycloneDX's words: `excluded` is needed only for development and tests. */
const lockScopes = ["required", "optional", "excluded"] as const;
export type LockScope = (typeof lockScopes)[number];

interface LockedPackage {
  /** The key that distinguishes the file's packages. */
  purl: string;
  ecosystem: Ecosystem;
  name: string;
  version: string;
  /** null if the file does not say. */
  scope: LockScope | null;
  /** `unknown` if the file does not say. */
  relation: "direct" | "transitive" | "unknown";
}

/** Package URLs; `from` is null for the project itself. */
interface LockDependency {
  from: string | null;
  to: string;
}

export interface LockGraph {
  packages: LockedPackage[];
  needs: LockDependency[];
  /** What the file names without pinning it, with the reason. */
  skipped: { name: string; reason: string }[];
}

interface NewPackage {
  ecosystem: Ecosystem;
  name: string;
  version: string;
  /** Absent: derived from the packages that need it. */
  scope?: LockScope | null;
  /** Another package needs it, but the file does not say which. */
  indirect?: boolean;
}

interface Draft extends Omit<LockedPackage, "relation"> {
  indirect: boolean;
}

/** Collects what a reader finds; a repeated package counts once. */
export class LockGraphBuilder {
  readonly #packages = new Map<string, Draft>();
  readonly #needs = new Map<string | null, Map<string, LockScope>>();
  readonly #skipped: LockGraph["skipped"] = [];
  #needsCount = 0;

  /** @returns the package's purl @throws LockFileError for an invalid name or version, and for too many packages */
  add({ ecosystem, name, version, scope = null, indirect = false }: NewPackage): string {
    requireText("name", name);
    requireText(`version of ${quoted(name)}`, version);
    const purl = packageUrlText({ ecosystem, name, version });
    const known = this.#packages.get(purl);
    if (known !== undefined) {
      known.scope = nearerScope(known.scope, scope);
      known.indirect &&= indirect;
      return purl;
    }
    if (this.#packages.size >= lockFilePackagesMax) throw new LockFileError(`has more than ${lockFilePackagesMax} packages`);
    this.#packages.set(purl, { purl, ecosystem, name, version, scope, indirect });
    return purl;
  }

  /** @param scope of a direct dependency; the scopes of its dependencies follow from it */
  need(from: string | null, to: string, scope: LockScope = "required"): void {
    if (++this.#needsCount > lockFileNeedsMax)
      throw new LockFileError(`has more than ${lockFileNeedsMax} dependencies between its packages`);
    const targets = this.#needs.get(from) ?? new Map<string, LockScope>();
    this.#needs.set(from, targets);
    targets.set(to, nearerScope(targets.get(to) ?? null, scope) ?? scope);
  }

  /** For files that do not mark direct dependencies: packages that no other package needs are direct. */
  inferDirectDependencies(): void {
    const needed = new Set([...this.#needs].flatMap(([from, targets]) => [...targets.keys()].filter((to) => to !== from)));
    for (const purl of this.#packages.keys()) if (!needed.has(purl)) this.need(null, purl);
  }

  skip(name: string, reason: string): void {
    if (this.#skipped.length < lockFileSkippedMax) this.#skipped.push({ name: name.slice(0, lockFileTextCharactersMax), reason });
  }

  finish(): LockGraph {
    const scopes = this.#reachedScopes();
    const direct = this.#needs.get(null);
    const packages = [...this.#packages.values()].map(({ indirect, ...draft }): LockedPackage => {
      const reached = scopes.get(draft.purl);
      const isDirect = direct?.has(draft.purl) ?? false;
      const relation = isDirect ? "direct" : indirect || reached !== undefined ? "transitive" : "unknown";
      return { ...draft, scope: draft.scope ?? (this.#marksScopes() ? (reached ?? null) : null), relation };
    });
    const needs = [...this.#needs].flatMap(([from, targets]) => [...targets.keys()].map((to) => ({ from, to })));
    return {
      packages: packages.toSorted((one, other) => byCodeUnits(one.purl, other.purl)),
      needs: needs.toSorted((one, other) => byCodeUnits(one.from ?? "", other.from ?? "") || byCodeUnits(one.to, other.to)),
      skipped: this.#skipped,
    };
  }

  /** Without any scope but `required`, the format may have no marks for development dependencies, so no scope is set. */
  #marksScopes(): boolean {
    return [...(this.#needs.get(null)?.values() ?? [])].some((scope) => scope !== "required");
  }

  /** The strongest scope by which each package is reached from the project. */
  #reachedScopes(): Map<string, LockScope> {
    const reached = new Map<string, LockScope>();
    for (const scope of lockScopes) {
      const next = [...(this.#needs.get(null) ?? [])].flatMap(([to, needScope]) => (needScope === scope ? to : []));
      for (let purl = next.pop(); purl !== undefined; purl = next.pop()) {
        if (reached.has(purl)) continue;
        reached.set(purl, scope);
        next.push(...(this.#needs.get(purl)?.keys() ?? []));
      }
    }
    return reached;
  }
}

/** For messages: shortens a long text. */
export function quoted(text: string): string {
  return JSON.stringify(text.length <= 60 ? text : `${text.slice(0, 60)}…`);
}

/** Why a lock file is refused: the only error of reading one. The message continues its path: "web/yarn.lock: line 3 …". */
export class LockFileError extends Error {
  override name = "LockFileError";
}

function requireText(what: string, text: string): void {
  if (text.trim() === "") throw new LockFileError(`has a package whose ${what} is missing`);
  if (text.length > lockFileTextCharactersMax)
    throw new LockFileError(`has a package whose ${what} is longer than ${lockFileTextCharactersMax} characters`);
  if (/\p{Cc}/u.test(text)) throw new LockFileError(`has a package whose ${what} has a control character`);
}

/**
 * The package URL of a locked package, from its name as the ecosystem spells it. @throws LockFileError for a name that is impossible in the
 * ecosystem
 */
function packageUrlText({ ecosystem, name, version }: { ecosystem: Ecosystem; name: string; version: string }): string {
  const type = packageUrlTypeOf(ecosystem);
  const at = ecosystem === "Maven" ? name.indexOf(":") : name.lastIndexOf("/");
  const namespace = at === -1 ? null : name.slice(0, at);
  const url = { type, namespace, name: name.slice(at + 1), version, qualifiers: new Map<string, string>(), subpath: null };
  try {
    return printPackageUrl(parsePackageUrl(printPackageUrl(url)));
  } catch (error) {
    if (!(error instanceof PackageUrlError)) throw error;
    throw new LockFileError(`has a package ${JSON.stringify(name.slice(0, 100))} that is none of ${ecosystem}: ${error.message}`);
  }
}

/** A package that is required anywhere is required. */
function nearerScope(one: LockScope | null, other: LockScope | null): LockScope | null {
  return lockScopes.find((scope) => scope === one || scope === other) ?? null;
}
