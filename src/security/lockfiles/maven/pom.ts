/**
 * pom.xml: dependencies whose versions are in the file, directly, by properties or by its dependencyManagement.
 * Source: https://maven.apache.org/pom.html and
 * https://maven.apache.org/guides/introduction/introduction-to-dependency-mechanism.html
 */
import { LockFileError } from "../lock-file-error.ts";
import { LockGraphBuilder, type LockGraph, type LockScope } from "../lock-graph.ts";
import { childOf, childrenOf, childText, parseLockXml, type XmlElement } from "../parse/xml.ts";
import { pomProperties, type PomProperties } from "./pom-properties.ts";

interface Managed {
  version: string | null;
  scope: string | null;
}

/** @throws LockFileError */
export function readPom(text: string): LockGraph {
  const project = parseLockXml(text);
  if (project.name !== "project")
    throw new LockFileError(`<${project.name.slice(0, 60)}>: is its root element; <project> is needed`);
  const graph = new LockGraphBuilder();
  const properties = pomProperties(project);
  const profiles = childrenOf(childOf(project, "profiles"), "profile");
  const managed = managedIn(project, properties);
  for (const dependency of dependenciesOf(project)) addDependency(dependency, { properties, managed, graph });
  // A profile only applies to some builds.
  for (const dependency of profiles.flatMap(dependenciesOf))
    addDependency(dependency, { properties, managed, graph, profile: true });
  return graph.finish();
}

function dependenciesOf(element: XmlElement): XmlElement[] {
  return childrenOf(childOf(element, "dependencies"), "dependency");
}

function keyOf(dependency: XmlElement, properties: PomProperties): string {
  const part = (name: string) => properties.filled(childText(dependency, name) ?? "") ?? "";
  return `${part("groupId")}:${part("artifactId")}`;
}

function managedIn(project: XmlElement, properties: PomProperties): Map<string, Managed> {
  const dependencies = childrenOf(childOf(childOf(project, "dependencyManagement"), "dependencies"), "dependency");
  return new Map(
    dependencies.map((dependency) => [
      keyOf(dependency, properties),
      { version: childText(dependency, "version"), scope: childText(dependency, "scope") },
    ]),
  );
}

interface Context {
  properties: PomProperties;
  managed: ReadonlyMap<string, Managed>;
  graph: LockGraphBuilder;
  profile?: boolean;
}

function addDependency(dependency: XmlElement, { properties, managed, graph, profile = false }: Context): void {
  const name = keyOf(dependency, properties);
  if (name.startsWith(":") || name.endsWith(":")) {
    graph.skip(name, "its groupId or artifactId is defined outside of the file");
    return;
  }
  const known = managed.get(name);
  const written = childText(dependency, "version") ?? known?.version ?? null;
  const version = written === null ? null : exactVersion(properties.filled(written));
  if (version === null) {
    graph.skip(
      name,
      written === null
        ? "its version is defined outside of the file"
        : "its version is a range, or is defined outside of the file",
    );
    return;
  }
  const scope = scopeOf(childText(dependency, "scope") ?? known?.scope ?? null);
  const isOptional = profile || childText(dependency, "optional") === "true";
  graph.need(
    null,
    graph.add({ ecosystem: "Maven", name, version, scope: scope === "required" && isOptional ? "optional" : scope }),
  );
}

function scopeOf(scope: string | null): LockScope {
  return scope === "test" ? "excluded" : "required";
}

/** `[1.0]` allows only that version; other ranges allow several. */
function exactVersion(text: string | null): string | null {
  const [, bracketed] = /^\[([^[\](),]+)\]$/.exec(text ?? "") ?? [];
  const version = (bracketed ?? text ?? "").trim();
  return version === "" || /[[\](),\s]/.test(version) || /^(?:LATEST|RELEASE)$/.test(version) ? null : version;
}
