/** `weir advisories import`: sends the records of a source batch by batch, and says where to continue when it is interrupted. */
import { CursorError, type Cursor } from "../../../src/security/advisories/read-advisories.ts";
import { CallError, reasonOf } from "../call.ts";
import { answerOf, atIntervals, storeAdvisories, tallyText } from "../store-advisories.ts";
import { UsageError } from "../value.ts";
import type { LocalAnswer, Sending } from "../verb.ts";

export async function importAdvisories(fields: Record<string, unknown>, { post, showProgress }: Sending): Promise<LocalAnswer> {
  const path = String(fields["path"]);
  const after = fields["after"] === undefined ? undefined : readCursor(String(fields["after"]));
  const show = atIntervals(showProgress);
  let done = fields["after"] ?? null;
  try {
    const tally = await storeAdvisories(
      {
        source: path === "-" ? { name: "stdin", bytes: process.stdin } : { path },
        after,
        onStored({ tally: soFar, cursor, progress }) {
          done = `${cursor.document}#${cursor.record}`;
          show(() => tallyText(soFar, progress));
        },
      },
      post,
    );
    return answerOf(tally);
  } catch (error) {
    throw interruption(error, path, done);
  }
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
  const [, document, record] = /^(.+)#(\d{1,9})$/s.exec(text) ?? [];
  if (document === undefined) throw new UsageError(`--after: "${text}" is not a place that an import printed`);
  return { document, record: Number(record) };
}
