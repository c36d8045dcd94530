import { Type } from "@sinclair/typebox";
import { isoTime } from "../../../kernel/clock.ts";
import { listRowsMax } from "../../../http/limits.ts";
import { findingEventRowsDefault } from "../../limits.ts";
import { operation, reading } from "../../api/operations/operation.ts";
import { listData, pageAnswer, pageFields } from "../../api/operations/page.ts";
import { findingNotFound } from "../finding-not-found.ts";
import { ChangeView, findingId, viewChanges } from "../schema.ts";
import { countEvents, selectEvents, selectTarget } from "../triage-store.ts";

const EventView = Type.Object(
  {
    at: Type.String({ description: "When it happened" }),
    actor: Type.String({ description: "E-mail address of the person who decided, or scanner" }),
    cause: Type.String({
      description:
        "decided, found, returned, decision_followed, component_gone, not_affected, withdrawn, issue_joined or issue_followed; more may be added",
    }),
    changes: Type.Array(ChangeView, { description: "What changed" }),
  },
  { description: "A change of the finding" },
);

export const listFindingEvents = operation({
  title: "List a finding's events",
  description:
    "Lists the history of a finding, newest first: what scans found and what people decided, each with the actor, the time and the cause.",
  annotations: reading,
  addition: true,
  input: Type.Object({ finding_id: findingId, ...pageFields({ normal: findingEventRowsDefault, max: listRowsMax }) }),
  data: listData("events", EventView),
  async handle({ input: { finding_id: finding, limit, offset }, caller: { workspace }, parts: { sql } }) {
    if ((await selectTarget({ workspace, id: finding }, sql)) === undefined) throw findingNotFound(finding);
    const total = await countEvents(finding, sql);
    const rows = await selectEvents({ finding, limit, offset }, sql);
    const events = rows.map(({ at, actor, cause, changes }) => ({
      at: isoTime(at.getTime()),
      actor,
      cause,
      changes: viewChanges(changes),
    }));
    return {
      data: { events, ...pageAnswer({ limit, offset }, { total, rows: rows.length }) },
      message: `${rows.length} of ${total} events`,
    };
  },
});
