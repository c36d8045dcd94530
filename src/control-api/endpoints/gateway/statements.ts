import { Type } from "@sinclair/typebox";
import { statementRowsDefault, statementRowsMax } from "../../../gateway/limits.ts";
import { closeNow } from "../../../gateway/statements/close.ts";
import { statementFile, ClosingView, StatementList, StatementView } from "../../../gateway/statements/schema.ts";
import { listStatements, showStatement } from "../../../gateway/statements/statements.ts";
import { csvResponse } from "../../../http/csv-response.ts";
import { endpoint, type Endpoint } from "../../endpoint.ts";
import { NamedWorkspace, parseRowLimit, rowLimit, wordOf } from "../../fields.ts";

export const statementEndpoints: Endpoint[] = [
  endpoint({
    method: "GET",
    path: "/statements",
    summary: "List a workspace's statements of usage, newest first; the open one is summed now",
    fields: Type.Object({
      workspace: NamedWorkspace,
      limit: rowLimit({ normal: statementRowsDefault, max: statementRowsMax }),
      before: Type.Optional(Type.String({ pattern: "^\\d{4}-\\d{2}$", description: "a month such as 2026-10" })),
    }),
    view: StatementList,
    async handle({ input: { workspace: named, limit, before = null }, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      const rows = parseRowLimit(limit, { normal: statementRowsDefault, max: statementRowsMax });
      return listStatements({ actor, workspace, before, limit: rows }, parts);
    },
  }),
  endpoint({
    method: "GET",
    path: "/statements/:id",
    summary: "Show the statement of a month, such as 2026-10; with `format=csv` its lines as a file",
    fields: Type.Object({
      workspace: NamedWorkspace,
      format: Type.Optional(wordOf(["json", "csv"])),
    }),
    view: StatementView,
    csv: true,
    async handle({ input: { workspace: named, format = "json" }, id: number, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      const statement = await showStatement({ actor, workspace, number }, parts);
      return format === "csv" ? csvResponse(statementFile(statement)) : statement;
    },
  }),
  endpoint({
    method: "POST",
    path: "/statements/close",
    summary: "Close the statements of months that are over now, and not within a minute",
    fields: Type.Object({ workspace: Type.Optional(NamedWorkspace) }),
    view: ClosingView,
    async handle({ input, actors, parts }) {
      actors.operator("close statements");
      const { workspace } = await actors.inAnyWorkspace(input.workspace);
      return closeNow(workspace?.id ?? null, parts);
    },
  }),
];
