import { sbomFailedReadCalls } from "../../limits.ts";
import { SbomRefusal } from "../../sboms/refusal.ts";
import type { SbomReader } from "../../sboms/reader/reader.ts";
import type { ParsedBody } from "../../sboms/reader/parse-sbom-field.ts";
import type { ReleaseSlot } from "../../../accounts/quotas/fair-semaphore.ts";
import type { AuthenticatedCall } from "./authenticated-call.ts";

interface Reading {
  sboms: SbomReader;
  /** The body. */
  pieces: AsyncIterable<Uint8Array>;
  path: readonly string[];
  /** Acquires a slot before the document is read, so that no parsed document waits in memory. null: none is needed. */
  acquire(large: boolean): Promise<ReleaseSlot> | null;
}

export interface ReadDocument extends ParsedBody {
  /** null: no slot was acquired yet. */
  release: ReleaseSlot | null;
}

/**
 * Reads the document in a body. A document that a subprocess could not read counts as many calls of its key, because subprocesses are
 * scarce.
 * @throws what SbomReader.read throws, after releasing the slot
 */
export async function readDocument(
  { caller, charge }: AuthenticatedCall,
  { sboms, pieces, path, acquire }: Reading,
): Promise<ReadDocument> {
  let release: ReleaseSlot | null = null;
  let inSubprocess = false;
  const onReceived = async (large: boolean): Promise<void> => {
    inSubprocess = large;
    release = await acquire(large);
  };
  try {
    const body = await sboms.read({ pieces, path, workspace: caller.workspace, onReceived });
    if (inSubprocess && (body.sbom === null || body.sbom.refused !== null)) charge(sbomFailedReadCalls);
    return { ...body, release };
  } catch (error) {
    if (inSubprocess && error instanceof SbomRefusal) charge(sbomFailedReadCalls);
    releaseIfHeld(release);
    throw error;
  }
}

/** A callback assigns the slot, which the type checker cannot see. */
function releaseIfHeld(release: ReleaseSlot | null): void {
  release?.();
}
