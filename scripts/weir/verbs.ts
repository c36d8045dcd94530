/**
 * All verbs. The rows of `verbs.jsonl` come from the endpoints (`scripts/control-tables.ts`), so a new endpoint gets its verb without a
 * line here. Only what the terminal adds is written by hand, and loaded when its verb runs: the command line starts in a fraction of the
 * time that the server's modules take.
 */
import { readFileSync } from "node:fs";
import { additions } from "./additions.ts";
import { completionVerb } from "./completion.ts";
import { localVerbs } from "./local-verbs.ts";
import { kinds, oneOf } from "./value.ts";
import { nameOf, rowsFile, type Flag, type FlagRow, type RemoteVerb, type Verb, type VerbRow } from "./verb.ts";

/** Reads the file that `scripts/control-tables.ts` writes. */
function readRows(): VerbRow[] {
  return readFileSync(rowsFile, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as VerbRow);
}

function remoteVerb({ flags, progress, ...row }: VerbRow): RemoteVerb {
  const { flags: more = [], progress: format = partText, ...addition } = additions[nameOf(row)] ?? {};
  return { ...row, ...addition, flags: [...flags.map(flagOf), ...more], ...(progress === true && { progress: format }) };
}

function flagOf({ takes, ...row }: FlagRow): Flag {
  return { ...row, value: typeof takes === "string" ? kinds[takes] : oneOf(...takes) };
}

function partText(part: Record<string, unknown>): string {
  return Object.entries(part)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(", ");
}

/** Groups the verbs of a noun at the place of its first one. A verb that is the noun alone comes first. */
function byNoun(all: readonly Verb[]): Verb[] {
  const nouns = Map.groupBy(all, ({ noun }) => noun);
  return [...nouns.values()].flatMap((group) => group.toSorted((a, b) => Number(b.verb === "") - Number(a.verb === "")));
}

const ownVerbs = byNoun([...readRows().map(remoteVerb), ...localVerbs]);

export const verbs: readonly Verb[] = [...ownVerbs, completionVerb(ownVerbs)];
