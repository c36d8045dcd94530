/**
 * Reads the fields of a call from the JSON object in its body. A body is counted against its key while it arrives, and read more slowly
 * while the event loop is busy.
 *
 * A document within the body is parsed separately, with its own limits, and only once the call has its slot, so that no parsed document
 * waits in memory. A document that a subprocess could not read counts as many calls of its key, because subprocesses are scarce.
 */
import { DomainError, bodyTooSlow } from "../../accounts/errors.ts";
import type { ByteLease } from "../../accounts/quotas/byte-budget.ts";
import type { ReleaseSlot } from "../../accounts/quotas/fair-semaphore.ts";
import { bodyPieces, type BodyErrors, largeBodyThrottle, wholeBody } from "../../http/body.ts";
import { parseJsonObject } from "../../http/json.ts";
import { callJsonValuesMax } from "../../http/limits.ts";
import type { Clock } from "../../kernel/clock.ts";
import { GatewayError } from "../../kernel/errors.ts";
import { sbomCallBytesMax, toolsBodyBytesMax, sbomFailedReadCalls, toolsBodyMs } from "../limits.ts";
import type { Operation } from "../operation.ts";
import type { SbomReader } from "../sboms/reader.ts";
import { SbomRefusal } from "../sboms/refusal.ts";
import type { SbomResult, ParsedBody } from "../sboms/sbom-field.ts";
import { holderOf } from "./call-limits.ts";
import type { AuthenticatedCall, ToolsParts } from "./run-operation.ts";

interface Input {
  fields: Record<string, unknown>;
  /** null: the operation takes none. */
  sbom: SbomResult | null;
  /** The slot that the call already holds. */
  release: ReleaseSlot | null;
}

/**
 * @throws DomainError invalid_body for a wrong content type or a body that is missing, not a JSON object, too large or too deep
 * @throws LimitReachedError; what SbomReader.read throws
 */
export async function readInput(call: AuthenticatedCall, operation: Operation, parts: ToolsParts): Promise<Input> {
  requireJson(call.request);
  const { bodies, documents } = parts.limits;
  using lease = (operation.takesSbom ? documents : bodies).lease(holderOf(call.caller));
  if (!operation.takesSbom) return { fields: fieldsOf(await whole(call, lease, parts)), sbom: null, release: null };
  const pieces = callBody(call.request, { ...throttled(parts), lease, bytesMax: sbomCallBytesMax });
  const acquire = () => parts.limits.acquire(operation, call.caller);
  const { sbom, rest, release } = await readDocument(call, { sboms: parts.sboms, pieces, path: ["sbom"], acquire });
  try {
    return { fields: fieldsOf(rest), sbom, release };
  } catch (error) {
    release?.();
    throw error;
  }
}

/** For bodies that may be large. */
export function throttled({ clock, limits }: Pick<ToolsParts, "clock" | "limits">) {
  const throttle = async (piece: Uint8Array): Promise<void> => {
    await limits.loopThrottle.wait();
    await largeBodyThrottle.read(piece.length);
  };
  return { clock, throttle };
}

interface Reading {
  sboms: SbomReader;
  /** The body. */
  pieces: AsyncIterable<Uint8Array>;
  path: readonly string[];
  /** Acquires a slot before the document is read, so that no parsed document waits in memory. null: none is needed. */
  acquire(large: boolean): Promise<ReleaseSlot> | null;
}

interface ReadDocument extends ParsedBody {
  /** null: no slot has been acquired yet. */
  release: ReleaseSlot | null;
}

/** Reads the document in a body. @throws what SbomReader.read throws, after releasing the slot */
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

interface Options {
  clock: Clock;
  bytesMax: number;
  /** Counts the body's bytes until its reader disposes of it. */
  lease: ByteLease;
  throttle?: (piece: Uint8Array) => Promise<void>;
}

const errors: BodyErrors = {
  encoded: () => new DomainError("invalid_body", "The body is compressed: send it as it is"),
  incomplete: () => new DomainError("invalid_body", "The body did not arrive in full and in time: send it again"),
  tooSlow: () => bodyTooSlow("body"),
  tooLarge: (bytesMax) => new DomainError("body_too_large", `The body is too large: send at most ${bytesMax} bytes`),
};

/** @throws DomainError invalid_body, body_too_large; LimitReachedError */
export function callBody(request: Request, { lease, ...options }: Options): AsyncGenerator<Uint8Array> {
  const count = (bytes: number): void => {
    if (bytes > lease.bytes) lease.grow(bytes - lease.bytes);
  };
  return bodyPieces(request, { ...options, withinMs: toolsBodyMs, errors, count });
}

function requireJson(request: Request): void {
  const type = request.headers.get("content-type");
  if (mediaType(type) !== "application/json") {
    const sent = type === null ? "is missing" : `is "${type.slice(0, 100)}"`;
    throw new DomainError("invalid_body", `The header Content-Type ${sent}: send application/json`);
  }
}

/** Without parameters such as `charset`: JSON is always UTF-8 (RFC 8259, 8.1). */
function mediaType(header: string | null): string {
  return (header ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

function fieldsOf(bytes: Uint8Array): Record<string, unknown> {
  if (bytes.length === 0)
    throw new DomainError("invalid_body", "The body is missing: send a JSON object, {} where no field is required");
  try {
    return parseJsonObject(bytes, callJsonValuesMax);
  } catch (error) {
    if (error instanceof GatewayError)
      throw new DomainError("invalid_body", `${error.message}: send the fields as one JSON object`);
    throw error;
  }
}

function whole({ request }: AuthenticatedCall, lease: ByteLease, { clock }: ToolsParts): Promise<Uint8Array> {
  return wholeBody(callBody(request, { clock, lease, bytesMax: toolsBodyBytesMax }));
}

/** A callback assigns the slot, which the type checker does not see. */
function releaseIfHeld(release: ReleaseSlot | null): void {
  release?.();
}
