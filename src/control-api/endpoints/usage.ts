/**
 * Endpoints for sums of usage by time, key, member, model, provider and endpoint, for charts of them, and for monthly statements. Sums are
 * read from the replica, if there is one, and may then be two seconds old. The verbs decide what a caller may see of them.
 */
import { Type } from "@sinclair/typebox";
import { line } from "../../accounts/workspaces/fields.ts";
import {
  chartSeriesDefault,
  usageRowsDefault,
  usageRowsMax,
  usageSeriesMax,
  statementRowsDefault,
  statementRowsMax,
} from "../../gateway/limits.ts";
import { closeNow } from "../../gateway/statements/close.ts";
import { statementFile, ClosingView, StatementList, StatementView } from "../../gateway/statements/schema.ts";
import { listStatements, showStatement } from "../../gateway/statements/statements.ts";
import { ChartFields, showChart } from "../../gateway/usage/chart.ts";
import { UsageFields } from "../../gateway/usage/periods.ts";
import { ChartView, UsageView } from "../../gateway/usage/schema.ts";
import { showUsage } from "../../gateway/usage/usage.ts";
import { csvResponse } from "../../http/csv-response.ts";
import { NamedWorkspace, parseRowLimit, rowLimit, wordOf } from "../fields.ts";
import { endpoint } from "../endpoint.ts";

const only = {
  key: Type.Optional(line("the id of a key", { title: "Only this key" })),
  member: Type.Optional(line("the email of a member", { title: "Only requests of this member" })),
  model: Type.Optional(line("the id of a model", { title: "Only this model" })),
  provider: Type.Optional(line("the id of a provider", { title: "Only requests that this provider answered" })),
};

export const usageEndpoints = {
  sum: endpoint({
    method: "GET",
    path: "/usage",
    command: {
      name: "usage",
      flags: { from: null, to: null, series: null },
      example: "--workspace default --by day,model --since 7d",
    },
    summary: "Sum requests, tokens and charges by time, key, member, model, provider and endpoint",
    fields: Type.Composite([
      Type.Object({ workspace: NamedWorkspace }),
      UsageFields,
      Type.Object({
        ...only,
        limit: rowLimit({ normal: usageRowsDefault, max: usageRowsMax }),
        series: rowLimit({ max: usageSeriesMax }),
      }),
    ]),
    view: UsageView,
    async handle({
      input: { workspace: named, key = null, member = null, model = null, provider = null, limit, series, ...fields },
      actors,
      parts,
    }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      const rowsMax = parseRowLimit(limit, { normal: usageRowsDefault, max: usageRowsMax });
      const seriesMax = series === undefined ? null : parseRowLimit(series, { normal: usageSeriesMax, max: usageSeriesMax });
      const asked = { actor, workspace: workspace.id, key, member, model, provider, fields, rowsMax, seriesMax };
      return showUsage(asked, { ...parts, sql: parts.reads });
    },
  }),
};

export const chartEndpoints = {
  show: endpoint({
    method: "GET",
    path: "/usage/chart",
    command: {
      name: "chart show",
      flags: { from: null, to: null, before: { bare: true } },
      example: "--workspace default --measure spend --by model --since 7d",
    },
    summary: "Show one measure by period: spend, requests, errors, tokens or the time of the first token",
    fields: Type.Composite([
      Type.Object({ workspace: NamedWorkspace }),
      ChartFields,
      Type.Object({
        ...only,
        limit: rowLimit({ normal: usageRowsDefault, max: usageRowsMax }),
        series: rowLimit({ normal: chartSeriesDefault, max: usageSeriesMax }),
      }),
    ]),
    view: ChartView,
    async handle({
      input: { workspace: named, key = null, member = null, model = null, provider = null, limit, series, ...fields },
      actors,
      parts,
    }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      const rowsMax = parseRowLimit(limit, { normal: usageRowsDefault, max: usageRowsMax });
      const seriesMax = parseRowLimit(series, { normal: chartSeriesDefault, max: usageSeriesMax });
      const asked = { actor, workspace: workspace.id, key, member, model, provider, fields, rowsMax, seriesMax };
      return showChart(asked, { ...parts, sql: parts.reads });
    },
  }),
};

export const statementEndpoints = {
  list: endpoint({
    method: "GET",
    path: "/statements",
    command: "statement list",
    summary: "List a workspace's statements of usage, newest first; the open one is summed now",
    fields: Type.Object({
      workspace: NamedWorkspace,
      limit: rowLimit({ normal: statementRowsDefault, max: statementRowsMax }),
      before: Type.Optional(
        Type.String({
          pattern: "^\\d{4}-\\d{2}$",
          title: "Only months before this one, such as 2026-10",
          description: "a month such as 2026-10",
        }),
      ),
    }),
    view: StatementList,
    async handle({ input: { workspace: named, limit, before = null }, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      const rows = parseRowLimit(limit, { normal: statementRowsDefault, max: statementRowsMax });
      return listStatements({ actor, workspace, before, limit: rows }, parts);
    },
  }),
  show: endpoint({
    method: "GET",
    path: "/statements/:id",
    command: { name: "statement show", flags: { id: "number", format: null } },
    summary: "Show the statement of a month",
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
  close: endpoint({
    method: "POST",
    path: "/statements/close",
    command: "statement close",
    summary: "Close the statements of months that are over now, and not within a minute",
    fields: Type.Object({ workspace: Type.Optional(NamedWorkspace) }),
    view: ClosingView,
    async handle({ input, actors, parts }) {
      actors.operator("close statements");
      const { workspace } = await actors.inAnyWorkspace(input.workspace);
      return closeNow(workspace?.id ?? null, parts);
    },
  }),
};
