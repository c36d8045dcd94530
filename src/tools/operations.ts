/** All operations of the tools API: routes, MCP tools and the documents are made from this list. A new one is a line here. */
import type { Operation } from "../operations/operation.ts";
import { getActiveScope } from "../scopes/get-active-scope.ts";
import { setActiveScope } from "../scopes/set-active-scope.ts";
import { createSupportRequest } from "../tickets/create-support-request.ts";
import { listMyTickets } from "../tickets/list-my-tickets.ts";
import { reportBug } from "../tickets/report-bug.ts";
import { submitFeedback } from "../tickets/submit-feedback.ts";

export const operations: readonly Operation[] = [
  getActiveScope,
  setActiveScope,
  submitFeedback,
  reportBug,
  createSupportRequest,
  listMyTickets,
];

/** What callers call it: `platform_submit_feedback`. @param slug the service's own name */
export function fullName(slug: string, { name }: Operation): string {
  return `${slug}_${name}`;
}
