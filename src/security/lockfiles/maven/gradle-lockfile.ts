/**
 * gradle.lockfile and buildscript-gradle.lockfile: packages with their configurations, without the dependencies between them.
 * Source: https://docs.gradle.org/current/userguide/dependency_locking.html
 */
import { LockFileError } from "../lock-file-error.ts";
import { LockGraphBuilder, quoted, type LockGraph, type LockScope } from "../lock-graph.ts";

/** @throws LockFileError with the line */
export function readGradleLockfile(text: string): LockGraph {
  const graph = new LockGraphBuilder();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const entry = line.trim();
    if (entry === "" || entry.startsWith("#") || entry.startsWith("empty=")) continue;
    const [, group, artifact, version, configurations = ""] = /^([^:=\s]+):([^:=\s]+):([^:=\s]+)=(.*)$/.exec(entry) ?? [];
    if (group === undefined || artifact === undefined || version === undefined) {
      throw new LockFileError(`line ${index + 1}: is ${quoted(entry)}; "group:artifact:version=configurations" is needed`);
    }
    graph.add({ ecosystem: "Maven", name: `${group}:${artifact}`, version, scope: scopeOf(configurations.split(",")) });
  }
  return graph.finish();
}

/** `excluded` if all configurations are for tests, by Gradle's own names: `testRuntimeClasspath`, `integrationTestCompileClasspath`. */
function scopeOf(configurations: string[]): LockScope {
  return configurations.every((configuration) => /^test[A-Z]|Test[A-Z]/.test(configuration)) ? "excluded" : "required";
}
