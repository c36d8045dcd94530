/**
 * Generates the lists of docs/reference/control-api.md and docs/reference/command-line.md from the code:
 * `node_modules/.bin/bun scripts/control-tables.ts`. A test compares the pages with them.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endpoints } from "../src/control-api/endpoints.ts";
import { isRemote, isSending, type Verb } from "./weir/verb.ts";
import { verbs } from "./weir/verbs.ts";

const nameOf = ({ noun, verb }: Verb): string => `${noun} ${verb}`.trim();

/** The endpoints that a verb calls, such as `POST /keys`. Empty: it needs only files or the database. */
export function callsOf(verb: Verb): string[] {
  if (isRemote(verb)) return [`${verb.method} ${verb.path}`];
  if (!isSending(verb)) return [];
  const posts = [verb.sends, verb.uploads, verb.notes].flatMap((path) => (path === undefined ? [] : [`POST ${path}`]));
  return verb.reads === undefined ? posts : [...posts, `GET ${verb.reads}`];
}

/** A line for each endpoint, with the verbs that call it. */
function endpointList(): string {
  const width = Math.max(...endpoints.map(({ path }) => path.length));
  const lines = endpoints.map(({ method, path }) => {
    const callers = verbs.filter((verb) => callsOf(verb).includes(`${method} ${path}`)).map(nameOf);
    return `${method.padEnd(6)} ${path.padEnd(width)}  ${callers.join(", ")}`.trimEnd();
  });
  return lines.join("\n");
}

/** A line for each noun, with its verbs. */
function verbList(): string {
  const nouns = [...new Set(verbs.map(({ noun }) => noun))];
  const width = Math.max(...nouns.map((noun) => noun.length));
  const lines = nouns.map((noun) => {
    const own = verbs.filter((verb) => verb.noun === noun && verb.verb !== "").map(({ verb }) => verb);
    return `${noun.padEnd(width)}  ${own.join(", ")}`.trimEnd();
  });
  return lines.join("\n");
}

const lists: Record<string, () => string> = {
  "src/control-api/endpoints.ts": endpointList,
  "scripts/weir/verbs.ts": verbList,
};

/** Replaces each block of the page that follows a comment "Made by scripts/control-tables.ts from <file>". */
export function withLists(page: string): string {
  return page.replace(
    /(<!-- Made by scripts\/control-tables\.ts from (\S+) -->\n\n```[^\n]*\n)[^`]*(```)/g,
    (whole, start: string, source: string, end: string) => {
      const list = lists[source];
      return list === undefined ? whole : `${start}${list()}\n${end}`;
    },
  );
}

/** The pages with lists. */
export const controlPages = ["control-api.md", "command-line.md"].map((name) =>
  join(import.meta.dirname, "../docs/reference", name),
);

if (import.meta.main) for (const file of controlPages) writeFileSync(file, withLists(readFileSync(file, "utf8")));
