/** The repository as text, for the rules of test/architecture.test.ts. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";

/** The text of each file, by its path from the root. */
export interface SourceTree {
  files: Map<string, string>;
  /** Every file of src and workers, of any kind. */
  paths: string[];
  /** Whether a path from the root is a file or folder. */
  has(path: string): boolean;
}

const folders = ["src", "workers", "scripts", "bench", "test", "docs"];
const skipped = /(^|\/)(node_modules|results|\.peers|fixtures)(\/|$)/;

export function readSourceTree(root: string): SourceTree {
  const listed = folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((path) => posix.join(folder, path)),
    );
  const top = readdirSync(root).filter((name) => name.endsWith(".md"));
  const paths = [...top, ...listed].filter((path) => /\.(ts|mjs|md)$/.test(path) && !skipped.test(path));
  return {
    files: new Map(paths.toSorted().map((path) => [path, readFileSync(join(root, path), "utf8")])),
    paths: listed.filter((path) => /^(src|workers)\//.test(path) && statSync(join(root, path)).isFile()),
    has: (path) => existsSync(join(root, path)),
  };
}

/** A source tree made from texts, to prove that a rule finds its violations. */
export function fakeSourceTree(texts: Record<string, string>): SourceTree {
  const paths = Object.keys(texts);
  return {
    files: new Map(Object.entries(texts)),
    paths,
    has: (path) => paths.some((known) => known === path || known.startsWith(`${path}/`)),
  };
}

export interface Import {
  from: string;
  /** A path from the root, or the name of a package. */
  to: string;
  kind: "own" | "node" | "package";
  /** Whether the import disappears when types are erased. */
  typeOnly: boolean;
}

const statement = /\b(?:(?:import|export)\s+(type\s+)?[^"';()]*?\bfrom\s*|import(?:\s+|\s*\(\s*))"([^"]+)"/g;

/** All imports of a file. Bun's own scanner leaves out imports of types. */
export function importsOf(path: string, text: string): Import[] {
  return [...withoutComments(text).matchAll(statement)].map(([, type, specifier = ""]) => {
    const typeOnly = type !== undefined;
    if (specifier.startsWith(".")) return { from: path, to: posix.join(posix.dirname(path), specifier), kind: "own", typeOnly };
    if (/^(node:|bun:|bun$)/.test(specifier)) return { from: path, to: specifier, kind: "node", typeOnly };
    const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
    return { from: path, to: name, kind: "package", typeOnly };
  });
}

/** Exact enough for this code: a line comment begins a line or follows a space, and no string contains a block comment. */
export function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "$1");
}

export function sourceFiles(tree: SourceTree): [path: string, text: string][] {
  return [...tree.files].filter(([path]) => /^(src|workers)\/.*\.ts$/.test(path));
}

export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
