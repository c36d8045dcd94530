/** Receives a file before its ticket, from an MCP server on the same machine. */
import { attachmentBytesMax } from "../../limits.ts";
import { DomainError } from "../../../accounts/errors.ts";
import type { AttachmentFolder } from "../../tickets/attachment-folder.ts";
import { callBody } from "./call-body.ts";
import { holderOf } from "./call-limits.ts";
import type { AuthenticatedCall } from "./authenticated-call.ts";
import { attachmentNameHeader } from "./paths.ts";
import type { CallAnswer } from "./envelope.ts";
import type { ToolsParts } from "./parts.ts";
import { throttled } from "./read-input.ts";

const nameCharactersMax = 255;

/** The body is the file, the header `X-Attachment-Name` its name, percent-encoded. */
export async function takeAttachment(
  { request, caller }: AuthenticatedCall,
  { attachments, ...parts }: ToolsParts & { attachments: AttachmentFolder },
): Promise<CallAnswer> {
  const name = fileName(request.headers.get(attachmentNameHeader));
  await parts.disk.require();
  const { workspace, actor } = caller;
  using lease = parts.limits.documents.lease(holderOf(caller));
  const pieces = callBody(request, { ...throttled(parts), lease, bytesMax: attachmentBytesMax });
  const { id, sizeBytes } = await attachments.keep({ workspace, owner: actor.email, name, pieces }, parts);
  return {
    status: 200,
    body: { success: true, data: { id, name, size: sizeBytes }, message: "The file is kept for its ticket" },
  };
}

function fileName(header: string | null): string {
  const name = decoded(header ?? "");
  if (name === null || name === "" || name.length > nameCharactersMax || /[\p{Cc}/\\]/u.test(name) || /^\.\.?$/.test(name)) {
    throw new DomainError(
      "invalid_field",
      "The header X-Attachment-Name must be the name of a file, percent-encoded and without folders",
    );
  }
  return name;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
