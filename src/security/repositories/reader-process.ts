/**
 * Reads the lock files of one repository from stdin, where they follow a line with their positions. It is a process, so that
 * files that need too much time or memory do no harm. SbomReader starts it.
 */
import { writeSubprocessOutput, readSubprocessInput } from "../sboms/reader/subprocess-io.ts";
import type { ParsedBody } from "../sboms/reader/parse-sbom-field.ts";
import { readRepository } from "./read-repository.ts";
import { decodeReaderInput } from "./reader-input.ts";
import { DomainError } from "../../accounts/errors.ts";

await writeSubprocessOutput(readBody(await readSubprocessInput()));

function readBody({ head, bytes }: { head: string; bytes: Uint8Array }): ParsedBody {
  try {
    const { name, found } = decodeReaderInput(head, bytes);
    const { sbom: rows, ...report } = readRepository(name, found);
    return { sbom: { refused: null, rows }, rest: new TextEncoder().encode(JSON.stringify(report)) };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { sbom: { refused: error.message, rows: null }, rest: new Uint8Array() };
  }
}
