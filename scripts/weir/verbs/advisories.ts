import { osvArchives } from "../../../src/config.ts";
import { CursorError, type Cursor } from "../../../src/security/advisories/read-advisories.ts";
import { ecosystems } from "../../../src/security/versions/ecosystem.ts";
import { CallError, reasonOf } from "../call.ts";
import { answerOf, parseCursor, printCursor, progressText, storeAdvisories } from "../store-advisories.ts";
import { syncAdvisories } from "../sync-advisories.ts";
import { UsageError, list, text, type Value } from "../value.ts";
import type { LocalAnswer, Sending, Verb } from "../verb.ts";

export const advisoriesVerbs: readonly Verb[] = [
  {
    noun: "advisories",
    verb: "list",
    summary: "Show how old is what is known of each ecosystem",
    method: "GET",
    path: "/advisories",
    flags: [],
    columns: ["ecosystem", "known", "sync_began_at", "synced_at", "imported_at", "newest_record"],
  },
  {
    noun: "advisories",
    verb: "import",
    summary: "Import OSV records; skips those that are stored already, reports bad ones and continues",
    operand: {
      field: "path",
      placeholder: "PATH",
      help: "JSON, NDJSON, YAML, zip, tar, tar.gz, or a folder of these; - reads standard input",
    },
    flags: [
      {
        name: "after",
        field: "after",
        value: { ...text, placeholder: "CURSOR" } satisfies Value,
        help: "continue after this place, which an interrupted import printed",
      },
    ],
    sends: "/advisories",
    send: importAdvisories,
  },
  {
    noun: "advisories",
    verb: "sync",
    summary: "Take over what OSV publishes of ecosystems: downloads what changed, continues what was interrupted",
    flags: [
      {
        name: "ecosystems",
        field: "ecosystems",
        value: list,
        help: `some of ${ecosystems.join(", ")}, with commas between; default: all`,
      },
      {
        name: "from",
        field: "from",
        value: { ...text, placeholder: "URL" } satisfies Value,
        help: `the address below which are <ecosystem>/all.zip; default ${osvArchives}`,
      },
      {
        name: "folder",
        field: "folder",
        value: { ...text, placeholder: "FOLDER" } satisfies Value,
        help: "keeps interrupted downloads; default: weir/advisories in the user's cache folder",
      },
    ],
    sends: "/advisories",
    notes: "/advisories/syncs",
    reads: "/advisories",
    send: syncAdvisories,
  },
  {
    noun: "advisories",
    verb: "start",
    summary: "Let the service itself take over what is published of ecosystems, from its ADVISORIES_URL",
    method: "POST",
    path: "/advisory-sync",
    flags: [
      {
        name: "ecosystems",
        field: "ecosystems",
        value: list,
        help: `some of ${ecosystems.join(", ")}, with commas between; default: all`,
      },
    ],
  },
  {
    noun: "advisories",
    verb: "state",
    summary: "Show the last synchronization that the service ran itself",
    method: "GET",
    path: "/advisory-sync",
    flags: [],
  },
  {
    noun: "advisories",
    verb: "count",
    summary: "Count the advisories of each ecosystem, and the projects that need them",
    method: "GET",
    path: "/advisory-counts",
    flags: [],
    columns: ["ecosystem", "records", "projects"],
  },
];

/** The least time between two lines of progress. */
const progressMs = 1_000;

async function importAdvisories(fields: Record<string, unknown>, { post, showProgress }: Sending): Promise<LocalAnswer> {
  const path = String(fields["path"]);
  const after = fields["after"] === undefined ? undefined : readCursor(String(fields["after"]));
  let shownMs = performance.now();
  let done = fields["after"] ?? null;
  try {
    const tally = await storeAdvisories(
      {
        source: sourceOf(path),
        after,
        onStored({ tally: soFar, cursor, progress }) {
          done = printCursor(cursor);
          if (performance.now() - shownMs < progressMs) return;
          shownMs = performance.now();
          showProgress(progressText(soFar, progress));
        },
      },
      post,
    );
    return answerOf(tally);
  } catch (error) {
    throw interruption(error, path, done);
  }
}

function sourceOf(path: string) {
  return path === "-" ? { name: "stdin", bytes: process.stdin } : { path };
}

function interruption(error: unknown, path: string, done: unknown): unknown {
  if (error instanceof CursorError) return new UsageError(error.message);
  if (error instanceof CallError) {
    const where = done === null ? "" : `; stored records stay, and --after '${String(done)}' continues from there`;
    return new CallError(`${error.message}${where}`, { cause: error });
  }
  if (error instanceof Error && "code" in error)
    return new CallError(`Cannot read "${path}": ${reasonOf(error)}`, { cause: error });
  return error;
}

/** @throws UsageError */
function readCursor(text: string): Cursor {
  const cursor = parseCursor(text);
  if (cursor === null) throw new UsageError(`--after: "${text}" is not a place that an import printed`);
  return cursor;
}
