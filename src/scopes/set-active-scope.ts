import { Type } from "@sinclair/typebox";
import { ScopeKind } from "../keys/schema.ts";
import { updateScope } from "../keys/store.ts";
import { nameCharactersMax } from "../limits/constants.ts";
import { lineOf } from "../operations/fields.ts";
import { OperationError } from "../operations/operation-error.ts";
import { operation } from "../operations/operation.ts";
import { ScopeView } from "./schema.ts";

export const setActiveScope = operation({
  name: "set_active_scope",
  title: "Set the active scope",
  description: "Chooses what lists of this key show from now on: its whole workspace, one product or one project.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  addition: true,
  input: Type.Object({
    kind: ScopeKind,
    id: Type.Optional(lineOf({ title: "Id of the product or project; none for a workspace", min: 1, max: nameCharactersMax })),
  }),
  data: ScopeView,
  async handle({ input: { kind, id }, caller, parts: { sql } }) {
    if (kind === "workspace" && id !== undefined) {
      throw new OperationError('The field "id" goes with a product or a project: leave it out for the workspace');
    }
    if (kind !== "workspace" && id === undefined) {
      throw new OperationError(`The field "id" is missing: the id of a ${kind} is needed`);
    }
    // This version keeps neither products nor projects.
    if (kind !== "workspace") throw new OperationError(`There is no ${kind} with the id "${id}"`);
    await updateScope({ id: caller.key, kind, target: null }, sql);
    return { data: { kind, id: null }, message: "Lists show the whole workspace" };
  },
});
