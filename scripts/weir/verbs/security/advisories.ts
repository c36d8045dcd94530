import { CursorError, readAdvisories, type Cursor, type Progress } from "../../../../src/security/advisories/read-advisories.ts";
import { advisoryFailuresShownMax } from "../../../../src/security/limits.ts";
import { advisoryBatches, type AdvisoryBatch, type Failure } from "../../upload/advisory-batches.ts";
import { CallError } from "../../call.ts";
import { UsageError } from "../../usage-error.ts";
import { text, type Value } from "../../value.ts";
import type { LocalAnswer, Sending, Verb } from "../../verb.ts";

export const advisoriesVerbs: readonly Verb[] = [
  {
    noun: "advisories",
    verb: "list",
    summary: "Show how old is what is known of each ecosystem",
    method: "GET",
    path: "/advisories",
    flags: [],
    columns: ["ecosystem", "synced_at", "imported_at", "newest_record"],
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
];

/** The least time between two lines of progress. */
const progressMs = 1_000;

interface Tally {
  read: number;
  imported: number;
  unchanged: number;
  failed: number;
  failures: Failure[];
}

async function importAdvisories(fields: Record<string, unknown>, { post, showProgress }: Sending): Promise<LocalAnswer> {
  const tally: Tally = { read: 0, imported: 0, unchanged: 0, failed: 0, failures: [] };
  const path = String(fields["path"]);
  const after = fields["after"] === undefined ? undefined : parseCursor(String(fields["after"]));
  let progress: Progress | null = null;
  const readings = readAdvisories({ source: sourceOf(path), after, onProgress: (now) => (progress = now) });
  let shownMs = performance.now();
  let done = fields["after"] ?? null;
  try {
    for await (const batch of advisoryBatches(readings)) {
      add(batch, await storeBatch(batch, post), tally);
      done = printCursor(batch.cursor);
      if (performance.now() - shownMs < progressMs) continue;
      shownMs = performance.now();
      showProgress(progressLine(tally, progress));
    }
  } catch (error) {
    throw interruption(error, path, done);
  }
  return answerOf(tally);
}

interface Stored {
  imported: number;
  unchanged: number;
  failures: { index: number; reason: string }[];
}

async function storeBatch({ records }: AdvisoryBatch, post: Sending["post"]): Promise<Stored> {
  if (records.length === 0) return { imported: 0, unchanged: 0, failures: [] };
  const answer = await post({ records: records.map(({ raw }) => raw) });
  return storedFrom(answer);
}

/** The control API's document states that its answer has these fields. */
function storedFrom(answer: Record<string, unknown>): Stored {
  return answer as unknown as Stored;
}

function add({ records, failures }: AdvisoryBatch, stored: Stored, tally: Tally): void {
  const refused = stored.failures.map(({ index, reason }) => ({ record: records[index]?.name ?? `record ${index}`, reason }));
  const failed = [...failures, ...refused];
  tally.read += records.length + failures.length;
  tally.imported += stored.imported;
  tally.unchanged += stored.unchanged;
  tally.failed += failed.length;
  tally.failures.push(...failed.slice(0, advisoryFailuresShownMax - tally.failures.length));
}

function sourceOf(path: string) {
  return path === "-" ? { name: "stdin", bytes: process.stdin } : { path };
}

function progressLine({ read, imported, unchanged, failed }: Tally, progress: Progress | null): string {
  const part = progress?.bytesTotal ? ` (${Math.floor((100 * progress.bytesRead) / progress.bytesTotal)} %)` : "";
  return `${read} read${part}: ${imported} imported, ${unchanged} unchanged, ${failed} failed`;
}

function answerOf(tally: Tally): LocalAnswer {
  const { read, imported, unchanged, failed, failures } = tally;
  const nothing = imported + unchanged === 0;
  return {
    body: { ...tally, ...(nothing && { ok: false }) },
    text: `${read} read: ${imported} imported, ${unchanged} unchanged, ${failed} failed`,
    errors: [
      ...failures.map(({ record, reason }) => `${record}: ${reason}`),
      ...(failed > failures.length ? [`and ${failed - failures.length} more`] : []),
      ...(nothing ? ["No record could be read"] : []),
    ],
  };
}

function interruption(error: unknown, path: string, done: unknown): unknown {
  if (error instanceof CursorError) return new UsageError(error.message);
  if (error instanceof CallError) {
    const where = done === null ? "" : `; stored records stay, and --after '${String(done)}' continues from there`;
    return new CallError(`${error.message}${where}`, { cause: error });
  }
  if (error instanceof Error && "code" in error)
    return new CallError(`Cannot read "${path}": ${String(error.code)}`, { cause: error });
  return error;
}

function printCursor({ document, record }: Cursor): string {
  return `${document}#${record}`;
}

function parseCursor(cursor: string): Cursor {
  const [, document, record] = /^(.+)#(\d{1,9})$/s.exec(cursor) ?? [];
  if (document === undefined) throw new UsageError(`--after: "${cursor}" is not a place that an import printed`);
  return { document, record: Number(record) };
}
