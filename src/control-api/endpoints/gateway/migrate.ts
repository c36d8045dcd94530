import { Type } from "@sinclair/typebox";
import { migrationMsMax } from "../../../backing/limits.ts";
import { moveGenerations, MoveView } from "../../../gateway/metering/move.ts";
import { endpoint, type Endpoint } from "../../endpoint.ts";
import { streamProgress, wantsProgress } from "../../stream-progress.ts";

export const migrateEndpoints: Endpoint[] = [
  endpoint({
    method: "POST",
    path: "/migrate",
    summary: "Move the generations of the version before to their new table; as `application/x-ndjson` with its progress",
    fields: Type.Object({
      finish: Type.Optional(
        Type.Boolean({ description: "then drop the older tables: no process of the version before may run" }),
      ),
    }),
    view: MoveView,
    deadlineMs: migrationMsMax,
    progress: true,
    async handle({ input: { finish = false }, actors, request, parts }) {
      actors.operator("migrate the database");
      if (!wantsProgress(request)) return moveGenerations(parts, { finish });
      return streamProgress((onMoved) => moveGenerations(parts, { finish, onMoved }), parts.log);
    },
  }),
];
