/** Reads the fields of a call, the JSON object in its body. */
import { joined } from "../../../http/body-reader.ts";
import { parseJsonObject } from "../../../http/json-body.ts";
import { GatewayError } from "../../../kernel/errors.ts";
import { callJsonValuesMax } from "../../../http/limits.ts";
import { sbomCallBytesMax, toolsBodyBytesMax } from "../../limits.ts";
import { DomainError } from "../../../accounts/errors.ts";
import type { Operation } from "../operations/operation.ts";
import type { ByteLease } from "../../../accounts/quotas/byte-budget.ts";
import { largeBodyThrottle } from "../../../http/byte-throttle.ts";
import type { ReleaseSlot } from "../../../accounts/quotas/fair-semaphore.ts";
import type { SbomResult } from "../../sboms/reader/parse-sbom-field.ts";
import { callBody } from "./call-body.ts";
import { holderOf } from "./call-limits.ts";
import type { AuthenticatedCall } from "./authenticated-call.ts";
import type { ToolsParts } from "./parts.ts";
import { readDocument } from "./read-document.ts";

export interface Input {
  fields: Record<string, unknown>;
  /** null: the operation takes none. */
  sbom: SbomResult | null;
  /** The slot that the call holds already. */
  release: ReleaseSlot | null;
}

/**
 * @throws DomainError invalid_body for a wrong content type or a body that is missing, no JSON, no object, too large or too deep
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

/** Options for bodies that may be large. */
export function throttled({ clock, limits }: Pick<ToolsParts, "clock" | "limits">) {
  const throttle = async (piece: Uint8Array): Promise<void> => {
    await limits.loopThrottle.wait();
    await largeBodyThrottle.read(piece.length);
  };
  return { clock, throttle };
}

async function whole({ request }: AuthenticatedCall, lease: ByteLease, { clock }: ToolsParts): Promise<Uint8Array> {
  return joined(await Array.fromAsync(callBody(request, { clock, lease, bytesMax: toolsBodyBytesMax })));
}

function requireJson(request: Request): void {
  const type = request.headers.get("content-type");
  if (mediaType(type) !== "application/json") {
    const sent = type === null ? "is missing" : `is "${type.slice(0, 100)}"`;
    throw new DomainError("invalid_body", `The header Content-Type ${sent}: send application/json`);
  }
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

/** Without parameters such as `charset`: JSON is always UTF-8 (RFC 8259, 8.1). */
function mediaType(header: string | null): string {
  return (header ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}
