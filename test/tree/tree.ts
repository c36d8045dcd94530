/** The repository as text, for the rules that test/tree.test.ts holds it to. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

/** Paths from the root to texts. */
export interface Tree {
  files: Map<string, string>;
  /** Whether a path from the root is a file or folder. */
  has(path: string): boolean;
}

const folders = ["src", "workers", "scripts", "bench", "test", "docs"];
const skipped = /(^|\/)(node_modules|results|\.peers|fixtures)(\/|$)/;

export function readTree(root: string): Tree {
  const listed = folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((path) => posix.join(folder, path)),
    );
  const top = readdirSync(root).filter((name) => name.endsWith(".md"));
  const paths = [...top, ...listed].filter((path) => /\.(ts|mjs|md)$/.test(path) && !skipped.test(path));
  return {
    files: new Map(paths.toSorted().map((path) => [path, readFileSync(join(root, path), "utf8")])),
    has: (path) => existsSync(join(root, path)),
  };
}

/** A tree made of texts, for showing that a rule bites. */
export function fakeTree(texts: Record<string, string>): Tree {
  const paths = Object.keys(texts);
  return {
    files: new Map(Object.entries(texts)),
    has: (path) => paths.some((known) => known === path || known.startsWith(`${path}/`)),
  };
}

export interface Import {
  from: string;
  /** A path from the root, or a package's name. */
  to: string;
  kind: "own" | "node" | "package";
  /** Vanishes when types are erased. */
  typeOnly: boolean;
}

const statement = /\b(?:(?:import|export)\s+(type\s+)?[^"';()]*?\bfrom\s*|import\s*\(?\s*)"([^"]+)"/g;

/** All imports of a file, those of types included: Bun's own scanner drops them. */
export function importsOf(path: string, text: string): Import[] {
  return [...withoutComments(text).matchAll(statement)].map(([, type, specifier = ""]) => {
    const typeOnly = type !== undefined;
    if (specifier.startsWith(".")) return { from: path, to: posix.join(posix.dirname(path), specifier), kind: "own", typeOnly };
    if (/^(node:|bun:|bun$)/.test(specifier)) return { from: path, to: specifier, kind: "node", typeOnly };
    const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
    return { from: path, to: name, kind: "package", typeOnly };
  });
}

/** Near enough for our own code: line comments begin a line or follow a space, and no string holds a block comment. */
export function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "$1");
}

export function sourceFiles(tree: Tree): [path: string, text: string][] {
  return [...tree.files].filter(([path]) => /^(src|workers)\/.*\.ts$/.test(path));
}
