import { Type } from "@sinclair/typebox";
import { line } from "../../../accounts/workspaces/fields.ts";
import { usageRowsDefault, usageRowsMax, usageSeriesMax } from "../../../gateway/limits.ts";
import { UsageView } from "../../../gateway/usage/schema.ts";
import { showUsage } from "../../../gateway/usage/usage.ts";
import { UsageFields } from "../../../gateway/usage/periods.ts";
import { endpoint, type Endpoint } from "../../endpoint.ts";
import { NamedWorkspace, parseRowLimit, rowLimit } from "../../fields.ts";

export const usageEndpoints: Endpoint[] = [
  endpoint({
    method: "GET",
    path: "/usage",
    summary: "Sum requests, tokens and charges by time, key, member, model, provider and endpoint",
    fields: Type.Composite([
      Type.Object({ workspace: NamedWorkspace }),
      UsageFields,
      Type.Object({
        key: Type.Optional(line("the id of a key")),
        member: Type.Optional(line("the email of a member: only their requests")),
        model: Type.Optional(line("the id of a model")),
        limit: rowLimit({ normal: usageRowsDefault, max: usageRowsMax }),
        series: rowLimit({ max: usageSeriesMax }),
      }),
    ]),
    view: UsageView,
    async handle({
      input: { workspace: named, key = null, member = null, model = null, limit, series, ...fields },
      actors,
      parts,
    }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      const rowsMax = parseRowLimit(limit, { normal: usageRowsDefault, max: usageRowsMax });
      const seriesMax = series === undefined ? null : parseRowLimit(series, { normal: usageSeriesMax, max: usageSeriesMax });
      const asked = { actor, workspace: workspace.id, key, member, model, fields, rowsMax, seriesMax };
      return showUsage(asked, { ...parts, sql: parts.reads });
    },
  }),
];
