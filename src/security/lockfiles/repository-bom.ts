/**
 * The lock files of a repository as one CycloneDX 1.6 document, so that what is imported comes in as what is uploaded does. The
 * repository is its root; each lock file is an application that its packages are part of, so that every path names its file.
 */
import { readSbom } from "../sboms/read-sbom.ts";
import type { SbomDocument, SbomRelation } from "../sboms/document.ts";
import type { ParsedLockFile } from "./read-lock-files.ts";

const rootRef = "repository";

export interface RepositoryBom {
  bytes: Uint8Array;
  document: SbomDocument;
}

/** Equal lock files give equal bytes. @param name of the repository @throws SbomRefusal too_large */
export function repositoryBom(name: string, files: readonly ParsedLockFile[]): RepositoryBom {
  const bytes = new TextEncoder().encode(JSON.stringify(bomOf(name, files)));
  const document = readSbom(bytes);
  const relations = relationsIn(files);
  const components = document.components.map((component) => ({
    ...component,
    relation: relations.get(component.ref) ?? component.relation,
  }));
  return { bytes, document: { ...document, components } };
}

function bomOf(name: string, files: readonly ParsedLockFile[]) {
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      tools: { components: [{ type: "application", name: "weir" }] },
      component: { type: "application", "bom-ref": rootRef, name },
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

function needsOf(path: string, needs: ParsedLockFile["needs"]): { ref: string; dependsOn: string[] }[] {
  const bySource = Map.groupBy(needs, ({ from }) => refOf(path, from));
  return [...bySource].map(([ref, targets]) => ({ ref, dependsOn: targets.map(({ to }) => refOf(path, to)) }));
}

/** A lock file, or a package in it: the same one in two lock files comes in twice, by other ways. */
function refOf(path: string, purl: string | null = null): string {
  return purl === null ? path : `${path}#${purl}`;
}

/** As the lock files say it: the step from the repository to the file is none of the project's. */
function relationsIn(files: readonly ParsedLockFile[]): Map<string, SbomRelation> {
  return new Map(
    files.flatMap(({ path, packages }) => packages.map(({ purl, relation }) => [refOf(path, purl), relation] as const)),
  );
}
