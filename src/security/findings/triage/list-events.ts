/**
 * The history of a finding, newest first: what scans found and what people decided. The same rows serve the operation
 * `list_finding_events` and the Console.
 */
import { Type, type Static } from "@sinclair/typebox";
import type { Queries } from "../../../backing/backing.ts";
import { listRowsMax } from "../../../http/limits.ts";
import { isoTime } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { type Page, listData, pageAnswer, pageFields } from "../../fields.ts";
import { operation, reading } from "../../operation.ts";
import { findingEventRowsDefault } from "../../limits.ts";
import { findingNotFound, ChangeView, viewChanges, findingId } from "../schema.ts";
import { countEvents, selectEvents, selectTarget } from "../triage-store.ts";

export const EventView = Type.Object(
  {
    at: Type.String({ description: "When it happened" }),
    actor: Type.String({ description: "E-mail address of the person who decided, or scanner" }),
    cause: Type.String({
      description:
        "decided, found, returned, decision_followed, component_gone, not_affected, withdrawn, issue_joined, issue_followed or acceptance_ended; more may be added",
    }),
    changes: Type.Array(ChangeView, { description: "What changed" }),
  },
  { description: "A change of the finding" },
);
export type EventView = Static<typeof EventView>;

/** @throws DomainError not_found even for a finding of another workspace */
export async function listEvents(
  { workspace, finding, limit, offset }: Page & { workspace: WorkspaceId; finding: string },
  sql: Queries,
): Promise<{ events: EventView[]; total: number }> {
  if ((await selectTarget({ workspace, id: finding }, sql)) === undefined) throw findingNotFound(finding);
  const total = await countEvents(finding, sql);
  const rows = await selectEvents({ finding, limit, offset }, sql);
  const events = rows.map(({ at, actor, cause, changes }) => ({
    at: isoTime(at.getTime()),
    actor,
    cause,
    changes: viewChanges(changes),
  }));
  return { events, total };
}

export const listFindingEvents = operation({
  title: "List a finding's events",
  description:
    "Lists the history of a finding, newest first: what scans found and what people decided, each with the actor, the time and the cause.",
  annotations: reading,
  addition: true,
  input: Type.Object({ finding_id: findingId, ...pageFields({ normal: findingEventRowsDefault, max: listRowsMax }) }),
  data: listData("events", EventView),
  async handle({ input: { finding_id: finding, limit, offset }, caller: { workspace }, parts: { sql } }) {
    const { events, total } = await listEvents({ workspace, finding, limit, offset }, sql);
    return {
      data: { events, ...pageAnswer({ limit, offset }, { total, rows: events.length }) },
      message: `${events.length} of ${total} events`,
    };
  },
});
