/** The rule that imports form no circle, types included. */
import type { Rule } from "./rules.ts";
import { importsOf, sourceFiles, type SourceTree } from "./source-tree.ts";

export const cycleRule: Rule = {
  name: "no chain of imports leads back to its file",
  violations: (tree) => circles(importsByFile(tree)).map((files) => files.join(" imports ")),
  invalid: { "src/a/one.ts": 'import { two } from "./two.ts";' },
  invalidWith: { "src/a/two.ts": 'import type { One } from "./one.ts";' },
  valid: { "src/a/one.ts": 'import { two } from "./two.ts";', "src/a/two.ts": 'import { readFileSync } from "node:fs";' },
};

function importsByFile(tree: SourceTree): Map<string, string[]> {
  const own = (path: string, text: string): string[] =>
    importsOf(path, text)
      .filter(({ kind }) => kind === "own")
      .map(({ to }) => to);
  return new Map(sourceFiles(tree).map(([path, text]) => [path, own(path, text)]));
}

/** The first circle through each file that closes one, in a depth-first search. */
function circles(imports: Map<string, string[]>): string[][] {
  const done = new Set<string>();
  const found: string[][] = [];
  const visit = (path: string, chain: string[]): void => {
    const at = chain.indexOf(path);
    if (at !== -1) found.push([...chain.slice(at), path]);
    if (at !== -1 || done.has(path)) return;
    for (const next of imports.get(path) ?? []) visit(next, [...chain, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return found;
}
