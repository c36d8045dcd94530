/**
 * Reads one upload from stdin, and writes what it holds as lines to stdout: an SBOM, the lock files of a repository, or a batch of
 * advisories. `readerLines` starts it. Each task loads only its own modules, since a process is started for each upload.
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
  // A body with more than a call may have besides its document is refused there, and its first bytes suffice to detect that.
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
