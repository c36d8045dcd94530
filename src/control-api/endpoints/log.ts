import { Type } from "@sinclair/typebox";
import { listGenerations } from "../../gateway/generations/list.ts";
import { GenerationView } from "../../gateway/generations/schema.ts";
import { findGeneration, generationNotFound, requireVisibleGeneration } from "../../gateway/generations/show.ts";
import { viewGeneration } from "../../gateway/generations/view.ts";
import { findKey, noKey, requireSeen } from "../../accounts/keys/show.ts";
import { logRowsDefault, logRowsMax } from "../limits.ts";
import { line } from "../../accounts/workspaces/fields.ts";
import { endpoint, type Endpoint } from "../endpoint.ts";
import { listOf, NamedWorkspace, NoFields, parseRowLimit, withOptionalWorkspace, rowLimit } from "../fields.ts";

export const logEndpoints: Endpoint[] = [
  endpoint({
    method: "GET",
    path: "/log",
    summary: "List ended generations, newest first",
    fields: Type.Object({
      workspace: Type.Optional(NamedWorkspace),
      key: Type.Optional(line("the id of a key")),
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
      const page = {
        before: input.before ?? null,
        limit: parseRowLimit(input.limit, { normal: logRowsDefault, max: logRowsMax }),
      };
      const rows = await listGenerations({ actor, workspace: workspace?.id ?? null, key: key?.id ?? null, page }, parts.sql);
      return { data: rows };
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
      await requireVisibleGeneration({ actor, workspace: workspace.id, row }, parts);
      return viewGeneration(row);
    },
  }),
];
