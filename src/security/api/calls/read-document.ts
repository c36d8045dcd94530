import { sbomFailedReadCalls } from "../../limits.ts";
import { SbomRefusal } from "../../sboms/refusal.ts";
import type { SbomReader } from "../../sboms/reader/reader.ts";
import type { ParsedBody } from "../../sboms/reader/parse-sbom-field.ts";
import type { EndTurn } from "../../../accounts/quotas/fair-turns.ts";
import type { bodyPieces } from "./body-pieces.ts";
import type { Called } from "./called.ts";

interface Reading {
  sboms: SbomReader;
  /** The body. */
  pieces: ReturnType<typeof bodyPieces>;
  path: readonly string[];
  /** The call's turn, taken before the document is read: what was read waits for nothing in memory. null: none is needed. */
  turn(large: boolean): Promise<EndTurn> | null;
}

export interface ReadDocument extends ParsedBody {
  /** null: no turn was taken yet. */
  end: EndTurn | null;
}

/**
 * Takes the document out of a body. One that a process read in vain counts as many calls of its key: places to read are few.
 * @throws what SbomReader.take throws; the turn has then ended
 */
export async function readDocument({ caller, charge }: Called, { sboms, pieces, path, turn }: Reading): Promise<ReadDocument> {
  let end: EndTurn | null = null;
  let apart = false;
  const arrived = async (large: boolean): Promise<void> => {
    apart = large;
    end = await turn(large);
  };
  try {
    const body = await sboms.take({ pieces, path, workspace: caller.workspace, arrived });
    if (apart && (body.taken === null || body.taken.refused !== null)) charge(sbomFailedReadCalls);
    return { ...body, end };
  } catch (error) {
    if (apart && error instanceof SbomRefusal) charge(sbomFailedReadCalls);
    endOf(end);
    throw error;
  }
}

/** What was assigned in a callback, as it is by now. */
function endOf(end: EndTurn | null): void {
  end?.();
}
