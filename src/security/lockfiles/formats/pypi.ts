/**
 * The lock files of Python: poetry.lock, pdm.lock, uv.lock, pylock.toml and Pipfile.lock. Names of projects are compared in their normalized
 * form (https://packaging.python.org/en/latest/specifications/name-normalization/). A file may have several versions of a project, for
 * different Pythons or platforms. Only exact pins are packages; anything else is reported as not pinned.
 */
import { lockFileVersionsMax } from "../../limits.ts";
import { fieldOf, objectOf, textOf, textsOf, type JsonObject, isObject, objectsOf, type JsonValue } from "../../sboms/json.ts";
import { packageKey } from "../../versions/ecosystem.ts";
import { LockGraphBuilder, type LockGraph, type LockScope, LockFileError, quoted } from "../lock-graph.ts";
import { lockEntries, parseLockJson } from "../syntax.ts";

/**
 * poetry.lock of Poetry 1 and 2. It does not mark direct dependencies. Source:
 * https://python-poetry.org/docs/basic-usage/#installing-with-poetrylock and its reader, poetry/packages/locker.py
 * @throws LockFileError
 */
export function readPoetryLock(text: string): LockGraph {
  const graph = new LockGraphBuilder();
  const index = new LockedProjects();
  const read = lockEntries(text).entries.map(({ name, version, fields }) => {
    const isFolder = textOf(objectOf(fields, "source") ?? {}, "type") === "directory";
    if (version === null) graph.skip(name, "it has no version");
    const purl =
      isFolder || version === null ? null : graph.add({ ecosystem: "PyPI", name, version, scope: poetryScopeOf(fields) });
    index.add(name, { version, purl });
    return { fields, purl, isFolder };
  });
  for (const { fields, purl, isFolder } of read) {
    if (purl === null && !isFolder) continue;
    for (const name of Object.keys(objectOf(fields, "dependencies") ?? {})) {
      for (const to of index.find(name)) graph.need(purl, to);
    }
  }
  graph.inferDirectDependencies();
  return graph.finish();
}

/**
 * pdm.lock. It does not mark direct dependencies. Source: https://pdm-project.org/latest/usage/lockfile/ and its reader,
 * src/pdm/formats and src/pdm/models/repositories in pdm-project/pdm
 * @throws LockFileError
 */
export function readPdmLock(text: string): LockGraph {
  const graph = new LockGraphBuilder();
  const index = new LockedProjects();
  const read = lockEntries(text).entries.map(({ name, version, fields }) => {
    const isOwn = fieldOf(fields, "editable") === true || textOf(fields, "path") !== null;
    if (version === null && !isOwn) graph.skip(name, "it has no version");
    const purl = isOwn || version === null ? null : graph.add({ ecosystem: "PyPI", name, version, scope: pdmScopeOf(fields) });
    index.add(name, { version, purl });
    return { name, fields, purl, isOwn };
  });
  for (const { name, fields, purl, isOwn } of read) {
    if (purl === null && !isOwn) continue;
    for (const requirement of textsOf(fields, "dependencies")) {
      const needed = requirementName(requirement);
      // A package with extras has a separate entry, which needs the one without extras.
      if (needed !== null && needed !== name) for (const to of index.find(needed)) graph.need(purl, to);
    }
  }
  graph.inferDirectDependencies();
  return graph.finish();
}

/**
 * uv.lock. Source: https://docs.astral.sh/uv/concepts/projects/layout/#the-lockfile and its reader, crates/uv-resolver/src/lock in
 * astral-sh/uv
 * @throws LockFileError
 */
export function readUvLock(text: string): LockGraph {
  const graph = new LockGraphBuilder();
  const index = new LockedProjects();
  const read = lockEntries(text).entries.map(({ name, version, fields }) => {
    const isOwn = isFolder(objectOf(fields, "source") ?? {});
    if (version === null && !isOwn) graph.skip(name, "it has no version");
    const purl = isOwn || version === null ? null : graph.add({ ecosystem: "PyPI", name, version });
    index.add(name, { version, purl });
    return { fields, purl, isOwn };
  });
  for (const { fields, purl, isOwn } of read) {
    if (purl === null && !isOwn) continue;
    for (const { dependency, scope } of neededBy(fields)) {
      const name = textOf(dependency, "name") ?? "";
      for (const to of index.find(name, textOf(dependency, "version"))) graph.need(purl, to, scope);
    }
  }
  return graph.finish();
}

/**
 * pylock.toml, which pip, uv, PDM and pipenv write. Dependencies between packages may be left out; a package of an extra or a group is
 * marked by its environment marker. Source: https://packaging.python.org/en/latest/specifications/pylock-toml/
 * @throws LockFileError
 */
export function readPylock(text: string): LockGraph {
  const { lock, entries } = lockEntries(text, "packages");
  const version = fieldOf(lock, "lock-version") ?? null;
  if (typeof version !== "string" || !/^1\.\d+$/.test(version))
    throw new LockFileError(`lock-version: is ${JSON.stringify(version).slice(0, 60)}; 1.0 is read`);
  const graph = new LockGraphBuilder();
  const index = new LockedProjects();
  const defaults = new Set(textsOf(lock, "default-groups"));
  const read = entries.map(({ name, version: pinned, fields }) => {
    const isOwn = objectOf(fields, "directory") !== null;
    if (pinned === null && !isOwn) graph.skip(name, "it has no version");
    const scope = pylockScopeOf(textOf(fields, "marker") ?? "", defaults);
    const purl = isOwn || pinned === null ? null : graph.add({ ecosystem: "PyPI", name, version: pinned, scope });
    index.add(name, { version: pinned, purl });
    return { fields, purl, isOwn };
  });
  for (const { fields, purl, isOwn } of read) {
    if (purl === null && !isOwn) continue;
    for (const dependency of objectsOf(fields, "dependencies")) {
      for (const to of index.find(textOf(dependency, "name") ?? "", textOf(dependency, "version"))) graph.need(purl, to);
    }
  }
  if (entries.some(({ fields }) => objectsOf(fields, "dependencies").length > 0)) graph.inferDirectDependencies();
  return graph.finish();
}

/**
 * Pipfile.lock. It lists packages without the dependencies between them. Source: https://pipenv.pypa.io/en/latest/pipfile.html#pipfile-lock
 * @throws LockFileError with the entry
 */
export function readPipfileLock(text: string): LockGraph {
  const lock = parseLockJson(text);
  const graph = new LockGraphBuilder();
  for (const [category, entries] of Object.entries(lock)) {
    if (category === "_meta") continue;
    if (!isObject(entries)) throw new LockFileError(`${quoted(category)}: is not an object`);
    // A project may have further categories besides "default" and "develop".
    const scope: LockScope = category === "default" ? "required" : category === "develop" ? "excluded" : "optional";
    for (const [name, entry] of Object.entries(entries)) {
      if (!isObject(entry)) throw new LockFileError(`${quoted(category)}[${quoted(name)}]: is not an object`);
      if (fieldOf(entry, "editable") === true || fieldOf(entry, "path") !== undefined) continue;
      const version = /^===?([^*,]+)$/.exec(textOf(entry, "version") ?? "")?.[1];
      if (version === undefined) graph.skip(name, "it is not pinned to a version");
      else graph.add({ ecosystem: "PyPI", name, version: version.trim(), scope });
    }
  }
  return graph.finish();
}

interface Known {
  version: string | null;
  /** null for a folder of the repository. */
  purl: string | null;
}

/** The packages of a lock file by name. */
export class LockedProjects {
  readonly #projects = new Map<string, Known[]>();

  /** @throws LockFileError if a package has more versions than in any real lock file */
  add(name: string, project: Known): void {
    const key = projectKey(name);
    const known = this.#projects.get(key);
    if (known === undefined) this.#projects.set(key, [project]);
    else if (known.push(project) > lockFileVersionsMax)
      throw new LockFileError(`has more than ${lockFileVersionsMax} versions of ${quoted(name)}`);
  }

  /** @param version null for all versions */
  find(name: string, version: string | null = null): string[] {
    const known = this.#projects.get(projectKey(name)) ?? [];
    return known.flatMap((project) =>
      project.purl !== null && (version === null || project.version === version) ? project.purl : [],
    );
  }
}

/** The project itself, its workspace's members, and other folders. */
function isFolder(source: JsonObject): boolean {
  return ["editable", "virtual", "directory"].some((kind) => fieldOf(source, kind) !== undefined);
}

/** Poetry 1 writes a category, Poetry 2 groups, and versions in between neither. */
function poetryScopeOf(fields: JsonObject): LockScope | null {
  const groups = textsOf(fields, "groups");
  const category = textOf(fields, "category");
  if (category === "dev" || (groups.length > 0 && !groups.includes("main"))) return "excluded";
  if (fieldOf(fields, "optional") === true) return "optional";
  return groups.length > 0 || category !== null ? "required" : null;
}

/** Markers such as `'dev' in dependency_groups` and `'socks' in extras`; a package of a default group is required. */
function pylockScopeOf(marker: string, defaults: ReadonlySet<string>): LockScope | null {
  const groups = [...marker.matchAll(/["']([\w.-]{1,200})["'] in (dependency_groups|extras)/g)];
  if (groups.length === 0) return null;
  if (groups.some(([, name = "", kind]) => kind === "dependency_groups" && defaults.has(name))) return "required";
  return groups.some(([, , kind]) => kind === "extras") ? "optional" : "excluded";
}

/** Packages in the group `default` are needed at run time. */
function pdmScopeOf(fields: JsonObject): LockScope | null {
  const groups = textsOf(fields, "groups");
  if (groups.length === 0) return null;
  return groups.includes("default") ? "required" : "excluded";
}

/** The name at the start of a requirement: https://packaging.python.org/en/latest/specifications/dependency-specifiers/ */
export function requirementName(requirement: string): string | null {
  return /^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)/.exec(requirement)?.[1] ?? null;
}

interface Need {
  dependency: JsonObject;
  scope: LockScope;
}

function neededBy(fields: JsonObject): Need[] {
  return [
    ...objectsOf(fields, "dependencies").map((dependency): Need => ({ dependency, scope: "required" })),
    ...listsOf(fieldOf(fields, "optional-dependencies")).map((dependency): Need => ({ dependency, scope: "optional" })),
    ...listsOf(fieldOf(fields, "dev-dependencies")).map((dependency): Need => ({ dependency, scope: "excluded" })),
  ];
}

/** All lists in a table, by the names of extras or groups. */
function listsOf(table: JsonValue | undefined): JsonObject[] {
  return isObject(table) ? Object.keys(table).flatMap((key) => objectsOf(table, key)) : [];
}

/** The normalized name of a project. */
function projectKey(name: string): string {
  return packageKey({ ecosystem: "PyPI", name });
}
