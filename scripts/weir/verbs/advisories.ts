/** `weir advisories import`: sends the records of a source batch by batch, and says where to continue when it is interrupted. */
import { CursorError, type Cursor } from "../../../src/security/advisories/read-advisories.ts";
import { CallError, reasonOf } from "../call.ts";
import { answerOf, parseCursor, printCursor, progressText, storeAdvisories } from "../store-advisories.ts";
import { UsageError } from "../value.ts";
import type { LocalAnswer, Sending } from "../verb.ts";

/** The least time between two lines of progress. */
const progressMs = 1_000;

export async function importAdvisories(fields: Record<string, unknown>, { post, showProgress }: Sending): Promise<LocalAnswer> {
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
