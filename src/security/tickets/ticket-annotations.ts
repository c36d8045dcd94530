import type { Annotations } from "../api/operations/operation.ts";

/** Of operations that log a ticket: people outside read it, and logging one takes nothing away. */
export const ticketAnnotations: Annotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
};
