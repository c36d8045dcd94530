/**
 * Lock files of Maven and Gradle: pom.xml and gradle.lockfile.
 *
 * A pom.xml yields the dependencies whose versions are in the file, directly, by properties or in its dependencyManagement. No parent is
 * fetched, and a range is not a version. A profile applies only to some builds, so its dependencies are optional. Sources:
 * https://maven.apache.org/pom.html and https://maven.apache.org/guides/introduction/introduction-to-dependency-mechanism.html
 */
import { lockFileTextCharactersMax } from "../../limits.ts";
import { LockFileError, LockGraphBuilder, type LockGraph, type LockScope, quoted } from "../lock-graph.ts";
import { childOf, childrenOf, childText, parseLockXml, type XmlElement } from "../syntax.ts";

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
  // A profile applies only to some builds.
  for (const dependency of profiles.flatMap(dependenciesOf))
    addDependency(dependency, { properties, managed, graph, profile: true });
  return graph.finish();
}

/**
 * gradle.lockfile and buildscript-gradle.lockfile: packages with their configurations, without the dependencies between them. Source:
 * https://docs.gradle.org/current/userguide/dependency_locking.html
 * @throws LockFileError with the line
 */
export function readGradleLockfile(text: string): LockGraph {
  const graph = new LockGraphBuilder();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const entry = line.trim();
    if (entry === "" || entry.startsWith("#") || entry.startsWith("empty=")) continue;
    const [, group, artifact, version, configurations = ""] = /^([^:=\s]+):([^:=\s]+):([^:=\s]+)=(.*)$/.exec(entry) ?? [];
    if (group === undefined || artifact === undefined || version === undefined) {
      throw new LockFileError(`line ${index + 1}: is ${quoted(entry)}; "group:artifact:version=configurations" is needed`);
    }
    graph.add({ ecosystem: "Maven", name: `${group}:${artifact}`, version, scope: gradleScopeOf(configurations.split(",")) });
  }
  return graph.finish();
}

interface PomProperties {
  /** The text with its properties replaced; null if one is circular or defined outside the file. */
  filled(text: string): string | null;
}

/** Properties of a pom.xml, `${name}`: https://maven.apache.org/pom.html#properties */
function pomProperties(project: XmlElement): PomProperties {
  const own = childOf(project, "properties")?.children ?? [];
  const values = new Map(own.map(({ name, text }) => [name, text.trim()]));
  const parent = childOf(project, "parent");
  for (const field of ["groupId", "artifactId", "version"]) {
    const ofParent = childText(parent, field);
    const value = childText(project, field) ?? (field === "artifactId" ? null : ofParent);
    if (value !== null)
      for (const prefix of ["project.", "pom.", ""]) if (!values.has(prefix + field)) values.set(prefix + field, value);
    if (ofParent !== null) values.set(`project.parent.${field}`, ofParent);
  }
  return { filled: (text) => filledIn(text, values) };
}

/** A value may use properties that use others, up to this many. */
const stepsMax = 32;

/** A value may contain further properties; each step replaces one. */
function filledIn(text: string, values: ReadonlyMap<string, string>): string | null {
  let filled = text;
  for (let step = 0; step < stepsMax; step++) {
    const [written, name = ""] = /\$\{([^${}]{1,200})\}/.exec(filled) ?? [];
    if (written === undefined) return filled.includes("${") ? null : filled;
    const value = values.get(name.trim());
    if (value === undefined || filled.length + value.length > lockFileTextCharactersMax) return null;
    filled = filled.replace(written, () => value);
  }
  return null;
}

interface Managed {
  version: string | null;
  scope: string | null;
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

function keyOf(dependency: XmlElement, properties: PomProperties): string {
  const part = (name: string) => properties.filled(childText(dependency, name) ?? "") ?? "";
  return `${part("groupId")}:${part("artifactId")}`;
}

function dependenciesOf(element: XmlElement): XmlElement[] {
  return childrenOf(childOf(element, "dependencies"), "dependency");
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

/** `[1.0]` allows only that version; other ranges allow more. */
function exactVersion(text: string | null): string | null {
  const [, bracketed] = /^\[([^[\](),]+)\]$/.exec(text ?? "") ?? [];
  const version = (bracketed ?? text ?? "").trim();
  return version === "" || /[[\](),\s]/.test(version) || /^(?:LATEST|RELEASE)$/.test(version) ? null : version;
}

function scopeOf(scope: string | null): LockScope {
  return scope === "test" ? "excluded" : "required";
}

/** `excluded` if all configurations are for tests, by Gradle's own names: `testRuntimeClasspath`, `integrationTestCompileClasspath`. */
function gradleScopeOf(configurations: string[]): LockScope {
  return configurations.every((configuration) => /^test[A-Z]|Test[A-Z]/.test(configuration)) ? "excluded" : "required";
}
