import { Type } from "@sinclair/typebox";
import { listRowsMax } from "../../../http/limits.ts";
import { findingEventRowsDefault } from "../../limits.ts";
import { operation, reading } from "../../api/operations/operation.ts";
import { listData, pageAnswer, pageFields } from "../../api/operations/page.ts";
import { findingId } from "../schema.ts";
import { EventView, listEvents } from "./list-events.ts";

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
