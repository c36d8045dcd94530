/** Endpoints for the views of lists that a member saves by a name. Each member sees and changes their own. */
import { Type } from "@sinclair/typebox";
import { editView, listViews, removeView, saveView } from "../../accounts/members/saved-views.ts";
import { SavedView, savedLists, viewName, viewQuery } from "../../accounts/workspaces/schema.ts";
import { inWorkspace, listOf, NamedWorkspace, wordOf } from "../fields.ts";
import { endpoint } from "../endpoint.ts";

const isDefault = Type.Boolean({ title: "Whether the Console's menu opens the list with it", description: "true or false" });

export const viewEndpoints = {
  save: endpoint({
    method: "POST",
    path: "/views",
    command: {
      name: "view save",
      example: "--workspace default --list findings --name Urgent --query 'severity=critical&sort=-epss'",
    },
    summary: "Save the filters, order and columns of a list in the Console by a name, in place of a view of the same name",
    fields: inWorkspace(
      Type.Object({
        list: wordOf(savedLists, { title: "The list" }),
        name: viewName,
        query: viewQuery,
        default: Type.Optional(isDefault),
      }),
    ),
    view: SavedView,
    status: 201,
    async handle({ input: { workspace: named, ...form }, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      return saveView({ actor, workspace: workspace.id, ...form }, parts);
    },
  }),
  list: endpoint({
    method: "GET",
    path: "/views",
    command: "view list",
    summary: "List the caller's saved views in a workspace, by list and name",
    fields: Type.Object({
      workspace: NamedWorkspace,
      list: Type.Optional(wordOf(savedLists, { title: "Only those of this list" })),
    }),
    view: listOf(SavedView),
    async handle({ input: { workspace: named, list = null }, actors, parts: { sql } }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      return { data: await listViews({ actor, workspace: workspace.id, list }, sql) };
    },
  }),
  edit: endpoint({
    method: "PATCH",
    path: "/views/:id",
    command: "view edit",
    summary: "Rename a saved view, or make it the one with which the Console's menu opens its list",
    fields: inWorkspace(Type.Object({ name: Type.Optional(viewName), default: Type.Optional(isDefault) })),
    view: SavedView,
    async handle({ id, input: { workspace: named, ...edit }, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      return editView({ actor, workspace: workspace.id, id, ...edit }, parts);
    },
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/views/:id",
    command: "view delete",
    summary: "Delete a saved view",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: SavedView,
    async handle({ id, input, actors, parts: { sql } }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      return removeView({ actor, workspace: workspace.id, id }, sql);
    },
  }),
};
