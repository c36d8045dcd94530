/** Calls the tools API of a running service. It uploads the file that a call names before the call. */
import { Value } from "@sinclair/typebox/value";
import { Type } from "@sinclair/typebox";
import type { Secret } from "../../src/kernel/secret.ts";
import { longCallWaitMs, sbomReadMs, sbomReaderWaitMs, toolsBodyMs, toolsDeadlineMs } from "../../src/security/limits.ts";
import { checkInput, type Operation } from "../../src/security/operation.ts";
import { DomainError } from "../../src/accounts/errors.ts";
import {
  attachmentHeader,
  attachmentNameHeader,
  attachmentsPath,
  toolsPrefix,
  fullName,
} from "../../src/security/api/operations.ts";
import { failure, Failure, successOf, type CallAnswer } from "../../src/security/api/envelope.ts";
import { readAttachment } from "./read-attachment.ts";

export interface Service {
  url: string;
  key: Secret;
  /** The service's slug, such as "weir". */
  slug: string;
  /** The only folder whose files may be attached. */
  attachRoot: string;
}

/** Time beyond the operation's own: for its body to arrive, for its turn, and for reading an SBOM. */
const arrivalMsMax = toolsBodyMs + longCallWaitMs + sbomReaderWaitMs + sbomReadMs;

/** Never rejects. */
export async function callService(
  { operation, input }: { operation: Operation; input: Record<string, unknown> },
  service: Service,
): Promise<CallAnswer> {
  try {
    const attachment = await uploadAttachment(operation, input, service);
    return await post({
      path: `${toolsPrefix}/${fullName(service.slug, operation)}`,
      headers: { "content-type": "application/json", ...(attachment !== null && { [attachmentHeader]: attachment }) },
      body: JSON.stringify(input),
      waitMs: operation.deadlineMs,
      service,
    });
  } catch (error) {
    if (error instanceof DomainError) return failure(400, error.message);
    return failure(500, `Cannot reach Weir at ${service.url}: ${reason(error)}; is it running? WEIR_URL names its address`);
  }
}

/**
 * Checks the call's fields before it reads the file.
 * @returns the attachment's id; null: the call names no file, or the service takes text only, which its answer then reports
 */
async function uploadAttachment(operation: Operation, input: Record<string, unknown>, service: Service): Promise<string | null> {
  if (!("attachment_path" in operation.input.properties) || input["attachment_path"] === undefined) return null;
  const checked: Record<string, unknown> = checkInput(operation.input, input);
  const file = await readAttachment({ path: String(checked["attachment_path"]), root: service.attachRoot });
  const headers = { "content-type": "application/octet-stream", [attachmentNameHeader]: encodeURIComponent(file.name) };
  const { status, body } = await post({ path: attachmentsPath, headers, body: file.bytes, waitMs: toolsDeadlineMs, service });
  if (status === 404) return null;
  if (!body.success) throw new DomainError("invalid_field", `Cannot attach the file: ${body.error}`);
  return String(body.data["id"]);
}

interface Sent {
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer>;
  /** The time that the service has for its own work. */
  waitMs: number;
  service: Service;
}

async function post({ path, headers, body, waitMs, service: { url, key } }: Sent): Promise<CallAnswer> {
  const authorization = `Bearer ${key.reveal()}`;
  const signal = AbortSignal.timeout(waitMs + arrivalMsMax);
  const response = await fetch(`${url}${path}`, { method: "POST", headers: { ...headers, authorization }, body, signal });
  const answered: unknown = await response.json().catch(() => null);
  if (Value.Check(envelope, answered)) return { status: response.status, body: answered };
  return failure(500, `The server at ${url} is not Weir's tools API: status ${response.status}`);
}

const envelope = Type.Union([successOf(Type.Record(Type.String(), Type.Unknown())), Failure]);

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name === "TimeoutError" ? "it does not answer" : error.message;
}
