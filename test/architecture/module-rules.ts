/**
 * Rules about modules: a module is one idea with all that only it uses. So a file that one neighbour alone imports belongs to that neighbour,
 * a folder of few files is a file, and a name means one thing in its wing.
 */
import type { Rule } from "./rules.ts";
import { folderOf, importsOf, sourceFiles, withoutComments, type SourceTree } from "./source-tree.ts";

const folderEntriesMin = 4;
/** How many files may have a single importer in their folder: some are ideas of their own that meet in one place. */
const singleImportersMax = 40;
/** Above this, a file with tests of its own stands alone. */
const ownFileLinesMin = 150;

export const moduleRules: Rule[] = [
  {
    name: `a folder holds at least ${folderEntriesMin} files or folders, or it is a file`,
    violations: (tree) =>
      [...entriesOf(tree)]
        .filter(([folder, entries]) => /^(src|workers)\/./.test(folder) && entries.size < folderEntriesMin)
        .map(([folder, entries]) => `${folder} holds only ${[...entries].map((entry) => `${folder}/${entry}`).join(", ")}`),
    invalid: { "src/accounts/keys/find.ts": "" },
    valid: { "src/accounts/find.ts": "", "src/accounts/a.ts": "", "src/accounts/b.sql": "", "src/accounts/keys.ts": "" },
  },
  {
    name: `at most ${singleImportersMax} files are imported by one file of their folder alone`,
    violations: (tree) => {
      const found = singleImporters(tree);
      return found.length > singleImportersMax ? found : [];
    },
    invalid: { "src/a/keys.ts": 'import "./key-0.ts";' },
    invalidWith: Object.fromEntries(
      Array.from({ length: singleImportersMax + 1 }, (_, index) => [`src/a/key-${index}.ts`, `import "./key-${index + 1}.ts";`]),
    ),
    valid: { "src/a/keys.ts": 'import "./store.ts";\nimport "./key-store.ts";', "src/a/store.ts": "", "src/a/key-store.ts": "" },
  },
  {
    name: "no name is exported twice in a wing",
    violations: (tree) =>
      [...Map.groupBy(exportsOf(tree), ({ wing, name }) => `${wing} ${name}`).values()]
        .filter((same) => same.length > 1)
        .map((same) => `${same[0]?.name} is exported by ${same.map(({ path }) => path).join(" and ")}`),
    invalid: { "src/security/products/create.ts": "export function createProduct() {}" },
    invalidWith: { "src/security/api.ts": "export const createProduct = operation({});" },
    valid: {
      "src/security/view.ts": "export const View = 1;\nexport type View = number;",
      "src/accounts/view.ts": "export const View = 2;",
    },
  },
];

/** What each folder holds directly. */
function entriesOf(tree: SourceTree): Map<string, Set<string>> {
  const entries = new Map<string, Set<string>>();
  for (const path of tree.paths) {
    const parts = path.split("/");
    for (let depth = 1; depth < parts.length; depth++) {
      const folder = parts.slice(0, depth).join("/");
      entries.set(folder, (entries.get(folder) ?? new Set()).add(parts[depth] ?? ""));
    }
  }
  return entries;
}

/** Ports and stores stand alone, as do the kinds of processes, and longer files with tests of their own. */
function singleImporters(tree: SourceTree): string[] {
  const importers = new Map<string, Set<string>>();
  for (const [path, text] of tree.files) {
    if (!/\.(ts|mjs)$/.test(path)) continue;
    for (const { to, kind } of importsOf(path, text)) {
      if (kind === "own") importers.set(to, (importers.get(to) ?? new Set()).add(path));
    }
  }
  return sourceFiles(tree).flatMap(([path, text]) => {
    const all = [...(importers.get(path) ?? [])];
    const [importer, ...more] = all.filter((from) => !from.startsWith("test/"));
    if (importer === undefined || more.length > 0 || folderOf(importer) !== folderOf(path)) return [];
    const standsAlone = /(\/|-)store\.ts$/.test(path) || ["src/backing", "workers"].includes(folderOf(path));
    const isTested = all.some((from) => from.startsWith("test/"));
    if (standsAlone || (isTested && text.split("\n").length > ownFileLinesMin)) return [];
    return [`${path} is imported by ${importer} alone`];
  });
}

const exported = /^export (?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm;

/** Each exported name once for each file. A wing is a folder of src. */
function exportsOf(tree: SourceTree): { wing: string; name: string; path: string }[] {
  const source = sourceFiles(tree).filter(([path]) => path.startsWith("src/"));
  return source.flatMap(([path, text]) => {
    const wing = path.split("/").slice(0, 2).join("/");
    const names = [...withoutComments(text).matchAll(exported)].map(([, name = ""]) => name);
    return [...new Set(names)].map((name) => ({ wing, name, path }));
  });
}
