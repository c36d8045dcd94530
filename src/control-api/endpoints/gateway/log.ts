import { Type } from "@sinclair/typebox";
import { listGenerations } from "../../../gateway/generations/list.ts";
import { retainLog, RetentionView } from "../../../gateway/generations/retain.ts";
import { GenerationView } from "../../../gateway/generations/schema.ts";
import { findGeneration, generationNotFound, requireVisibleGeneration } from "../../../gateway/generations/show.ts";
import { viewGeneration } from "../../../gateway/generations/view.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { findKey, noKey, requireSeen } from "../../../accounts/keys/show.ts";
import { retainMonthsMax, retainMonthsMin, retainStatementMsMax } from "../../../gateway/limits.ts";
import { requireFinished } from "../../../gateway/metering/move.ts";
import { logRowsDefault, logRowsMax } from "../../limits.ts";
import { line } from "../../../accounts/workspaces/fields.ts";
import { endpoint, type Endpoint } from "../../endpoint.ts";
import { streamProgress, wantsProgress } from "../../stream-progress.ts";
import { listOf, NamedWorkspace, NoFields, parseRowLimit, withOptionalWorkspace, rowLimit } from "../../fields.ts";

export const logEndpoints: Endpoint[] = [
  endpoint({
    method: "GET",
    path: "/log",
    summary: "List ended generations, newest first",
    fields: Type.Object({
      workspace: Type.Optional(NamedWorkspace),
      key: Type.Optional(line("the id of a key")),
      member: Type.Optional(line("the email of a member: only their requests in the Workbench and with keys of theirs")),
      model: Type.Optional(line("the id of a model; needs a workspace or a key")),
      limit: rowLimit(logRowsMax),
      before: Type.Optional(Type.String({ pattern: "^gen-[a-z2-7]{26}$", description: "the id of a generation" })),
    }),
    view: listOf(GenerationView),
    async handle({ input, actors, parts }) {
      const key = input.key === undefined ? null : await findKey(input.key, parts);
      const { actor, workspace } = key
        ? await actors.forResource({ named: input.workspace, workspace: key.workspace, unknown: noKey(key.id) })
        : await actors.inAnyWorkspace(input.workspace);
      if (key) requireSeen({ actor, workspace: workspace?.id ?? null, row: key });
      if (input.model !== undefined && workspace === null && key === null)
        throw new DomainError("invalid_field", "Cannot list a model over all workspaces: name a workspace or a key", {
          field: "model",
        });
      const page = {
        model: input.model ?? null,
        before: input.before ?? null,
        limit: parseRowLimit(input.limit, { normal: logRowsDefault, max: logRowsMax }),
      };
      const filter = { workspace: workspace?.id ?? null, key: key?.id ?? null, member: input.member ?? null };
      const rows = await listGenerations({ actor, filter, page }, parts);
      return { data: rows };
    },
  }),
  endpoint({
    method: "POST",
    path: "/log/retain",
    summary:
      "Delete older months of the log and keep their sums; as `application/x-ndjson` with each month as soon as it is deleted",
    fields: Type.Object({
      months: Type.Integer({
        minimum: retainMonthsMin,
        maximum: retainMonthsMax,
        description: "how many months before the current one are kept",
      }),
    }),
    view: RetentionView,
    deadlineMs: retainStatementMsMax,
    progress: true,
    async handle({ input: { months }, actors, request, parts }) {
      const actor = actors.operator("delete months of the log");
      await requireFinished(parts.sql);
      if (!wantsProgress(request)) return retainLog({ actor, months }, parts);
      return streamProgress((onRetained) => retainLog({ actor, months, onRetained }, parts), parts.log);
    },
  }),
  endpoint({
    method: "GET",
    path: "/log/:id",
    summary: "Show an ended generation",
    fields: withOptionalWorkspace(NoFields),
    view: GenerationView,
    async handle({ input, id, actors, parts }) {
      const row = await findGeneration(id, parts.sql);
      const { actor, workspace } = await actors.forResource({
        named: input.workspace,
        workspace: row.workspace,
        unknown: generationNotFound(id),
      });
      return viewGeneration(row, await requireVisibleGeneration({ actor, workspace: workspace.id, row }, parts));
    },
  }),
];
