/**
 * Reads one upload from stdin (an SBOM, the lock files of a repository, or a batch of advisories), and writes its content as lines to
 * stdout. `readerLines` starts it. Each task loads only its own modules, since each upload starts a process.
 */
import { writeLines } from "../process/subprocess.ts";
import { toolsBodyBytesMax } from "./limits.ts";
import { readReaderInput, type ReaderTask } from "./subprocess.ts";

const { task, facts, bytes } = await readReaderInput();
const results: Record<ReaderTask, () => Promise<Iterable<string>>> = { sbom, repository, advisories };
await writeLines(await results[task]());

async function sbom(): Promise<Iterable<string>> {
  const { decodePath, encodeBody, parseSbomField } = await import("./sboms/sbom-field.ts");
  const read = parseSbomField({ bytes, path: decodePath(facts) });
  // The parent refuses a body with too large a rest; the first bytes of the rest are enough to detect that.
  return encodeBody({ sbom: read.sbom, rest: read.rest.subarray(0, toolsBodyBytesMax + 1) });
}

async function repository(): Promise<Iterable<string>> {
  const [{ encodeBody }, { readEncodedRepository }] = await Promise.all([
    import("./sboms/sbom-field.ts"),
    import("./repositories/read-repository.ts"),
  ]);
  return encodeBody(readEncodedRepository(facts, bytes));
}

async function advisories(): Promise<Iterable<string>> {
  const { encodeBatch, readBody } = await import("./advisories/read-body.ts");
  return encodeBatch(readBody(bytes));
}
