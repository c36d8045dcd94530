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
  /** The call's turn, taken before the document is read: what was read waits for nothing in memory. null: none is needed. */
  turn(large: boolean): Promise<ReleaseSlot> | null;
}

export interface ReadDocument extends ParsedBody {
  /** null: no turn was taken yet. */
  release: ReleaseSlot | null;
}

/**
 * Takes the document out of a body. One that a process read in vain counts as many calls of its key: places to read are few.
 * @throws what SbomReader.read throws; the turn has then ended
 */
export async function readDocument(
  { caller, charge }: AuthenticatedCall,
  { sboms, pieces, path, turn }: Reading,
): Promise<ReadDocument> {
  let release: ReleaseSlot | null = null;
  let apart = false;
  const onReceived = async (large: boolean): Promise<void> => {
    apart = large;
    release = await turn(large);
  };
  try {
    const body = await sboms.read({ pieces, path, workspace: caller.workspace, onReceived });
    if (apart && (body.sbom === null || body.sbom.refused !== null)) charge(sbomFailedReadCalls);
    return { ...body, release };
  } catch (error) {
    if (apart && error instanceof SbomRefusal) charge(sbomFailedReadCalls);
    releaseIfHeld(release);
    throw error;
  }
}

/** What was assigned in a callback, as it is by now. */
function releaseIfHeld(release: ReleaseSlot | null): void {
  release?.();
}
