/**
 * Writes what is derived from the endpoints of the control API: the verbs of the command line (`scripts/weir/verbs.jsonl`), and the lists of
 * docs/reference/control-api.md and docs/reference/command-line.md: `node_modules/.bin/bun scripts/control-tables.ts`. Tests compare the
 * files with the endpoints, so a changed endpoint fails them until this ran.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endpoints } from "../src/control-api/endpoints.ts";
import { derivedVerbs } from "./weir/derive-verbs.ts";
import { rowsFile, type Verb } from "./weir/verb.ts";

/** A line for each endpoint, with the verb that calls it. */
function endpointList(): string {
  const width = Math.max(...endpoints.map(({ path }) => path.length));
  const lines = endpoints.map(({ method, path, command }) =>
    `${method.padEnd(6)} ${path.padEnd(width)}  ${command?.name ?? ""}`.trimEnd(),
  );
  return lines.join("\n");
}

/** A line for each noun, with its verbs. */
function verbList(verbs: readonly Verb[]): string {
  const nouns = [...new Set(verbs.map(({ noun }) => noun))];
  const width = Math.max(...nouns.map((noun) => noun.length));
  const lines = nouns.map((noun) => {
    const own = verbs.filter((verb) => verb.noun === noun && verb.verb !== "").map(({ verb }) => verb);
    return `${noun.padEnd(width)}  ${own.join(", ")}`.trimEnd();
  });
  return lines.join("\n");
}

const lists: Record<string, (verbs: readonly Verb[]) => string> = {
  "src/control-api/endpoints.ts": endpointList,
  "scripts/weir/verbs.ts": verbList,
};

/** Replaces each block of the page that follows a comment "Made by scripts/control-tables.ts from <file>". */
export function withLists(page: string, verbs: readonly Verb[]): string {
  return page.replace(
    /(<!-- Made by scripts\/control-tables\.ts from (\S+) -->\n\n```[^\n]*\n)[^`]*(```)/g,
    (whole, start: string, source: string, end: string) => {
      const list = lists[source];
      return list === undefined ? whole : `${start}${list(verbs)}\n${end}`;
    },
  );
}

/** The pages with lists. */
export const controlPages = ["control-api.md", "command-line.md"].map((name) =>
  join(import.meta.dirname, "../docs/reference", name),
);

/** What verbs.jsonl has: a verb of an endpoint in each line. */
export function verbLines(): string {
  return derivedVerbs()
    .map((row) => `${JSON.stringify(row)}\n`)
    .join("");
}

if (import.meta.main) {
  writeFileSync(rowsFile, verbLines());
  // The command line reads that file as it is loaded.
  const { verbs } = await import("./weir/verbs.ts");
  for (const file of controlPages) writeFileSync(file, withLists(readFileSync(file, "utf8"), verbs));
}
