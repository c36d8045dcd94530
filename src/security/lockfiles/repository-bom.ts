/**
 * Builds one CycloneDX 1.6 document from a repository's lock files, so that an import is stored like an upload. The repository is the root;
 * each lock file is an application that contains its packages, so that every path names its file. A package in two lock files occurs twice.
 * What is not watched (files that cannot be read, packages without one version) is in its warnings, which stay with the project.
 */
import { readSbom } from "../sboms/read-sbom.ts";
import { SbomWarnings } from "../sboms/refusal.ts";
import type { SbomDocument, SbomRelation } from "../sboms/document.ts";
import type { ParsedLockFile } from "./read-lock-files.ts";

interface RepositoryBom {
  bytes: Uint8Array;
  document: SbomDocument;
}

interface RepositoryContent {
  /** The repository's name. */
  name: string;
  files: readonly ParsedLockFile[];
  /** Lock files that cannot be read. */
  notRead: readonly { path: string; reason: string }[];
}

/** Equal lock files give equal bytes. @throws SbomRefusal too_large */
export function repositoryBom({ name, files, notRead }: RepositoryContent): RepositoryBom {
  const warnings = notWatched(files, notRead);
  const bytes = new TextEncoder().encode(JSON.stringify(bomOf({ name, files, warnings })));
  const document = readSbom(bytes);
  const relations = relationsIn(files);
  const components = document.components.map((component) => ({
    ...component,
    relation: relations.get(component.ref) ?? component.relation,
  }));
  return { bytes, document: { ...document, components, warnings: [...warnings, ...document.warnings] } };
}

function notWatched(files: RepositoryContent["files"], notRead: RepositoryContent["notRead"]): string[] {
  const warnings = new SbomWarnings();
  for (const { path, reason: says } of notRead) warnings.add({ place: () => path, says });
  for (const { path, skipped } of files)
    for (const { name, reason } of skipped)
      warnings.add({ place: () => `${path}: ${name}`, says: `is not watched: ${reason}`, kind: reason });
  return warnings.lines();
}

const rootRef = "repository";

interface BomContent extends Pick<RepositoryContent, "name" | "files"> {
  warnings: readonly string[];
}

/** The warnings are part of it, since a project keeps the SBOM that it has for equal bytes. */
function bomOf({ name, files, warnings }: BomContent) {
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      tools: { components: [{ type: "application", name: "weir" }] },
      component: { type: "application", "bom-ref": rootRef, name },
      ...(warnings.length > 0 && { properties: warnings.map((value) => ({ name: "weir:not-watched", value })) }),
    },
    components: files.map((file) => ({
      type: "application",
      "bom-ref": refOf(file.path),
      name: file.path,
      components: file.packages.map(({ purl, name: packageName, version, scope }) => ({
        type: "library",
        "bom-ref": refOf(file.path, purl),
        name: packageName,
        version,
        ...(scope !== null && { scope }),
        purl,
      })),
    })),
    dependencies: [
      { ref: rootRef, dependsOn: files.map(({ path }) => refOf(path)) },
      ...files.flatMap(({ path, needs }) => needsOf(path, needs)),
    ],
  };
}

/** A lock file, or a package in it: the same package in two lock files occurs twice, with different paths. */
function refOf(path: string, purl: string | null = null): string {
  return purl === null ? path : `${path}#${purl}`;
}

function needsOf(path: string, needs: ParsedLockFile["needs"]): { ref: string; dependsOn: string[] }[] {
  const bySource = Map.groupBy(needs, ({ from }) => refOf(path, from));
  return [...bySource].map(([ref, targets]) => ({ ref, dependsOn: targets.map(({ to }) => refOf(path, to)) }));
}

/** From the lock files; the step from the repository to the file has no scope. */
function relationsIn(files: readonly ParsedLockFile[]): Map<string, SbomRelation> {
  return new Map(
    files.flatMap(({ path, packages }) => packages.map(({ purl, relation }) => [refOf(path, purl), relation] as const)),
  );
}
