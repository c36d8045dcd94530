/**
 * Endpoints for workspaces and their settings, with their credit from the counters. Counters that were not used recently must be loaded
 * first, which takes time. So a bounded number is read at once, and after a deadline the rest of a list is shown without them.
 */
import { Type } from "@sinclair/typebox";
import { line } from "../../accounts/workspaces/fields.ts";
import { WorkspaceForm, WorkspaceSettings, WorkspaceView } from "../../accounts/workspaces/schema.ts";
import { selectWorkspaces, type WorkspaceRow } from "../../accounts/workspaces/store.ts";
import { findWorkspace, setWorkspace, viewCredit, viewWorkspace } from "../../accounts/workspaces/workspaces.ts";
import { openWorkspace, type CreditView } from "../../gateway/credit/credit.ts";
import { listStoppedModels, StoppedModel } from "../../gateway/own-keys/requirements.ts";
import { monthOf } from "../../kernel/clock.ts";
import { listOf, NamedWorkspace, NoFields, parseRowLimit, rowLimit } from "../fields.ts";
import { endpoint } from "../endpoint.ts";
import { controlRowsMax, positionsAtOnceMax, positionsMsMax } from "../limits.ts";
import type { ControlParts } from "../parts.ts";

type Sources = Pick<ControlParts, "clock" | "position">;

/**
 * Includes the amounts that are currently reserved. A bounded number of counters is read at once; after a deadline the rest is shown
 * without them.
 */
export async function describeWorkspaces(rows: WorkspaceRow[], { clock, position }: Sources): Promise<WorkspaceView[]> {
  const month = monthOf(clock.now());
  const askUntil = clock.monotonic() + positionsMsMax;
  const views: WorkspaceView[] = [];
  for (let from = 0; from < rows.length; from += positionsAtOnceMax) {
    const some = rows.slice(from, from + positionsAtOnceMax);
    const late = clock.monotonic() > askUntil;
    const credits = await Promise.all(some.map((row) => (late ? null : position(row.id, null))));
    views.push(...some.map((row, index) => viewWorkspace(row, { month, credit: credits[index] ?? null })));
  }
  return views;
}

export async function describeCredit(row: WorkspaceRow, { position }: Sources): Promise<CreditView> {
  return viewCredit(row.balance, await position(row.id, null));
}

async function describeWorkspace(idOrName: string, parts: ControlParts): Promise<WorkspaceView> {
  const row = await findWorkspace(idOrName, parts);
  const [view] = await describeWorkspaces([row], parts);
  if (!view) throw new Error(`The workspace "${row.id}" was found and not described`);
  return view;
}

export const workspaceEndpoints = {
  create: endpoint({
    method: "POST",
    path: "/workspaces",
    command: { name: "workspace create", flags: { credit_usd: "credit" } },
    summary: "Create a workspace: enabled, with fallbacks, everything else off",
    fields: WorkspaceForm,
    view: WorkspaceView,
    status: 201,
    async handle({ input, actors, parts }) {
      const actor = actors.operator("create a workspace");
      const id = await parts.sql.begin((tx) =>
        openWorkspace({ actor, form: input, ref: "workspace created" }, { sql: tx, clock: parts.clock }),
      );
      return describeWorkspace(id, parts);
    },
  }),
  list: endpoint({
    method: "GET",
    path: "/workspaces",
    command: "workspace list",
    summary: "List workspaces, oldest first",
    fields: Type.Object({
      workspace: Type.Optional(NamedWorkspace),
      text: Type.Optional(
        line("a part of a workspace's name", { title: "Only those with this text in their name", minLength: 1 }),
      ),
      limit: rowLimit({ max: controlRowsMax }),
    }),
    view: listOf(WorkspaceView),
    async handle({ input: { workspace: named, text = "", limit }, actors, parts }) {
      const { workspace } = await actors.inAnyWorkspace(named);
      const rows = workspace ? [workspace] : await allWorkspaces(parts);
      const wanted = rows.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
      const most = limit === undefined ? wanted.length : parseRowLimit(limit, { normal: controlRowsMax, max: controlRowsMax });
      return { data: await describeWorkspaces(wanted.slice(0, most), parts) };
    },
  }),
  show: endpoint({
    method: "GET",
    path: "/workspaces/:id",
    command: { name: "workspace show", flags: { id: "workspace" } },
    summary: "Show a workspace",
    fields: NoFields,
    view: WorkspaceView,
    async handle({ id, actors, parts }) {
      const { workspace } = await actors.inWorkspace(id);
      return describeWorkspace(workspace.id, parts);
    },
  }),
  edit: endpoint({
    method: "PATCH",
    path: "/workspaces/:id",
    command: {
      name: "workspace set",
      flags: { id: "workspace", spend_limit_usd: "spend-limit", daily_spend_limit_usd: "daily-spend-limit" },
    },
    summary: "Change settings of a workspace; omitted ones stay",
    fields: WorkspaceSettings,
    view: WorkspaceView,
    async handle({ input, id, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(id);
      // It deletes older prompts.
      if (typeof input.prompt_retention_days === "number") actors.requireRecentSignIn("limit how long prompts are kept");
      await setWorkspace({ actor, workspace: workspace.id, settings: input }, parts);
      return describeWorkspace(workspace.id, parts);
    },
  }),
  listStoppedModels: endpoint({
    method: "GET",
    path: "/workspaces/:id/retention",
    command: { name: "workspace retention", flags: { id: "workspace" } },
    summary: "List the models that the workspace can call while zero data retention is off, and not while it is on",
    fields: NoFields,
    view: listOf(StoppedModel),
    async handle({ id, actors, parts }) {
      const { workspace } = await actors.inWorkspace(id);
      return { data: await listStoppedModels(workspace, parts) };
    },
  }),
};

function allWorkspaces({ sql, clock }: ControlParts) {
  return selectWorkspaces({ workspace: null, now: clock.now() }, sql);
}
