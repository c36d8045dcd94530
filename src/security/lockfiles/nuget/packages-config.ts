/**
 * packages.config: all packages in one list, without marking direct ones.
 * Source: https://learn.microsoft.com/nuget/reference/packages-config
 */
import { LockFileError } from "../lock-file-error.ts";
import { LockGraphBuilder, type LockGraph } from "../lock-graph.ts";
import { childrenOf, parseLockXml } from "../parse/xml.ts";

/** @throws LockFileError with the entry */
export function readPackagesConfig(text: string): LockGraph {
  const root = parseLockXml(text);
  if (root.name !== "packages") throw new LockFileError(`<${root.name.slice(0, 60)}>: is its root element; <packages> is needed`);
  const graph = new LockGraphBuilder();
  for (const [index, { attributes }] of childrenOf(root, "package").entries()) {
    const name = attributes.get("id");
    const version = attributes.get("version");
    if (!name || !version) throw new LockFileError(`<package> ${index + 1}: has no id or no version`);
    const isForDevelopment = attributes.get("developmentDependency")?.toLowerCase() === "true";
    graph.add({ ecosystem: "NuGet", name, version, scope: isForDevelopment ? "excluded" : "required" });
  }
  return graph.finish();
}
