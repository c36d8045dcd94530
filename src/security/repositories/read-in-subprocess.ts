/** Reads a repository's lock files without blocking the event loop: few and small ones directly, others in a subprocess. */
import { fileURLToPath } from "node:url";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { sbomReadHereBytesMax } from "../limits.ts";
import type { SbomReader } from "../sboms/reader/reader.ts";
import { SbomRefusal } from "../sboms/refusal.ts";
import { readRepository, type ReadRepository } from "./read-repository.ts";
import { encodeReaderInput, type ReaderInput } from "./reader-input.ts";
import { DomainError } from "../../accounts/errors.ts";

const program = fileURLToPath(new URL("./reader-process.ts", import.meta.url));

/** @throws DomainError if nothing can be read, or not in time; LimitReachedError */
export async function readInSubprocess(
  input: ReaderInput,
  { sboms, workspace }: { sboms: SbomReader; workspace: WorkspaceId },
): Promise<ReadRepository> {
  await sboms.requireDisk();
  const { files } = input.found;
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
  if (bytes <= sbomReadHereBytesMax) return readRepository(input.name, input.found);
  try {
    const { sbom, rest } = await sboms.readInSubprocess(program, { input: encodeReaderInput(input), workspace });
    if (sbom?.rows) return { sbom: sbom.rows, ...reportOf(rest) };
    throw new DomainError("invalid_field", sbom?.refused ?? "The lock files cannot be read");
  } catch (error) {
    if (!(error instanceof SbomRefusal)) throw error;
    const advice = "import folders of the repository as projects of their own";
    throw new DomainError("invalid_field", `The lock files take too long to be read: ${advice}`);
  }
}

/** The subprocess returns the same as `readRepository`. */
function reportOf(rest: Uint8Array): Omit<ReadRepository, "sbom"> {
  return JSON.parse(new TextDecoder().decode(rest)) as Omit<ReadRepository, "sbom">;
}
