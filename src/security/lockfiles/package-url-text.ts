/** Builds package URLs of locked packages from names as each ecosystem spells them. */
import { packageUrlTypeOf, type Ecosystem } from "../versions/ecosystem.ts";
import { PackageUrlError } from "../versions/package-url-parts.ts";
import { parsePackageUrl, printPackageUrl } from "../versions/package-url.ts";
import { LockFileError } from "./lock-file-error.ts";

/** @throws LockFileError for an impossible name in the ecosystem */
export function packageUrlText({ ecosystem, name, version }: { ecosystem: Ecosystem; name: string; version: string }): string {
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
