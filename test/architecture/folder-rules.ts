/** Rules about folders: how many files they hold, and that the README shows them. */
import type { Rule } from "./rules.ts";
import { folderOf, type SourceTree } from "./source-tree.ts";

const filesMax = 26;
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
    name: "the README's map shows every folder of src and of its wings",
    violations: (tree) => {
      const shown = foldersShown(tree.files.get("README.md") ?? "");
      const real = foldersOfSource(tree);
      return [
        ...real.filter((folder) => !shown.includes(folder)).map((folder) => `README.md lacks ${folder}`),
        ...shown.filter((folder) => !real.includes(folder)).map((folder) => `README.md shows ${folder}, which does not exist`),
      ];
    },
    invalid: { "README.md": "| `src/kernel` | time and money |\n| `src/gateway` | `credit` `models` |" },
    invalidWith: { "src/kernel/clock.ts": "", "src/gateway/credit/credit.ts": "" },
    valid: {
      "README.md": "| `src/kernel` | time and money |\n| `src/gateway` | the gateway: `credit` |",
      "src/kernel/clock.ts": "",
      "src/gateway/credit/credit.ts": "",
    },
  },
];

/** The wings, whose inner folders the map shows as well. */
const wings = new Set(["accounts", "connectors", "console", "gateway", "security"]);

/** Each folder of src, and each inner folder of a wing. */
function foldersOfSource(tree: SourceTree): string[] {
  const paths = codeFiles(tree).filter((path) => path.startsWith("src/"));
  const folders = paths.flatMap((path) => {
    const [, outer = "", inner, file] = path.split("/");
    if (inner === undefined) return [];
    return wings.has(outer) && file !== undefined ? [`src/${outer}`, `src/${outer}/${inner}`] : [`src/${outer}`];
  });
  return [...new Set(folders)];
}

/** What the rows of the map name in backticks: a folder of src, then its inner folders. */
function foldersShown(readme: string): string[] {
  const rows = readme.split("\n").filter((line) => line.startsWith("| `src/"));
  return rows.flatMap((row) => {
    const names = [...row.matchAll(/`([\w/-]+)`/g)].map(([, name]) => name ?? "");
    return names.map((name) => (name.startsWith("src/") ? name : `${names[0]}/${name}`));
  });
}

function codeFiles(tree: SourceTree): string[] {
  return [...tree.files.keys()].filter((path) => /\.(ts|mjs)$/.test(path));
}
