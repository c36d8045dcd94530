import type { Annotations } from "../api/operations/operation.ts";

/** The annotations of operations that log a ticket: people outside read it, and it deletes nothing. */
export const ticketAnnotations: Annotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
};
