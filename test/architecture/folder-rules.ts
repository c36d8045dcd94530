/** Rules about folders: how many files they hold, and that the README shows them. */
import { layerOf } from "./layers.ts";
import type { Rule } from "./rules.ts";
import type { SourceTree } from "./source-tree.ts";

const filesMax = 20;
/** One file for each member of a set that is given from outside: ecosystems, mistakes, fixtures. */
const unlimitedFolders = new Set(["src/security/versions"]);

export const folderRules: Rule[] = [
  {
    name: `no folder holds more than ${filesMax} files of code`,
    violations: (tree) =>
      [...Map.groupBy(codeFiles(tree), folderOf)]
        .filter(([folder, files]) => files.length > filesMax && !unlimitedFolders.has(folder))
        .map(([folder, files]) => `${folder} holds ${files.length} files, for example ${files.at(-1)}`),
    invalid: Object.fromEntries([["src/a/z.ts", ""]]),
    invalidWith: Object.fromEntries(Array.from({ length: filesMax }, (_, index) => [`src/a/file-${index}.ts`, ""])),
    valid: Object.fromEntries(Array.from({ length: filesMax }, (_, index) => [`src/a/file-${index}.ts`, ""])),
  },
  {
    name: "the README's map shows every folder of src, in the order in which they may import each other",
    violations: (tree) => {
      const shown = foldersShown(tree.files.get("README.md") ?? "");
      const real = foldersOfSource(tree);
      return shown.join(" ") === real.join(" ") ? [] : [`README.md shows ${shown.join(" ")}, but src has ${real.join(" ")}`];
    },
    invalid: { "README.md": "| `src/kernel` | time and money |\n| `src/gateway` | `credit` `models` |" },
    invalidWith: { "src/kernel/clock.ts": "", "src/gateway/credit/add.ts": "" },
    valid: {
      "README.md": "| `src/kernel` | time and money |\n| `src/gateway` | the gateway: `credit` |",
      "src/kernel/clock.ts": "",
      "src/gateway/credit/add.ts": "",
    },
  },
];

/** The wings, whose inner folders the map shows as well. */
const wings = new Set(["accounts", "connectors", "gateway", "security"]);

/** `src/<folder>` and, for a wing, its inner folders below it, sorted by the first layer that holds a file of theirs. */
function foldersOfSource(tree: SourceTree): string[] {
  const files = codeFiles(tree).filter((path) => path.startsWith("src/") && path.split("/").length > 2);
  const byLayer = files.toSorted((one, other) => layerOf(one) - layerOf(other));
  const outer = [...new Set(byLayer.map((path) => path.split("/")[1] ?? ""))];
  return outer.flatMap((folder) => {
    const inner = byLayer.filter((path) => path.startsWith(`src/${folder}/`) && path.split("/").length > 3);
    const names = wings.has(folder) ? [...new Set(inner.map((path) => path.split("/")[2] ?? ""))] : [];
    return [`src/${folder}`, ...names];
  });
}

/** What the rows of the map name in backticks, without folders outside of src. */
function foldersShown(readme: string): string[] {
  const rows = readme.split("\n").filter((line) => line.startsWith("| `src/"));
  return rows.flatMap((row) => [...row.matchAll(/`([\w/-]+)`/g)].map(([, name]) => name ?? ""));
}

function codeFiles(tree: SourceTree): string[] {
  return [...tree.files.keys()].filter((path) => /\.(ts|mjs)$/.test(path));
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
