/**
 * The operations that read and set the scope of a key's lists: the whole workspace, a product or a project. A call may name another
 * scope; this one applies when it does not.
 */
import { Type, type Static } from "@sinclair/typebox";
import { DomainError } from "../../accounts/errors.ts";
import { ScopeKind } from "../../accounts/keys/schema.ts";
import { updateScope } from "../../accounts/keys/store.ts";
import { nameCharactersMax } from "../../accounts/limits.ts";
import { lineOf } from "../fields.ts";
import { operation, reading } from "../operation.ts";
import { requireResource } from "../resource.ts";

export const ScopeView = Type.Object({
  kind: ScopeKind,
  id: Type.Union([Type.String(), Type.Null()], { description: "Id of the product or project; null for a workspace" }),
});
export type ScopeView = Static<typeof ScopeView>;

export const getActiveScope = operation({
  title: "Get the active scope",
  description: "Shows the scope of this key's lists: the whole workspace, one product or one project.",
  annotations: reading,
  addition: true,
  input: Type.Object({}),
  data: ScopeView,
  async handle({ caller: { scope } }) {
    const id = scope.kind === "workspace" ? null : scope.id;
    return {
      data: { kind: scope.kind, id },
      message: `Lists show the ${id === null ? "whole workspace" : `${scope.kind} ${id}`}`,
    };
  },
});

export const setActiveScope = operation({
  title: "Set the active scope",
  description: "Sets the scope of this key's lists: the whole workspace, one product or one project.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  addition: true,
  input: Type.Object({
    kind: ScopeKind,
    id: Type.Optional(lineOf({ title: "Id of the product or project; none for a workspace", min: 1, max: nameCharactersMax })),
  }),
  data: ScopeView,
  async handle({ input: { kind, id }, caller, parts: { sql } }) {
    if (kind === "workspace" && id !== undefined) {
      throw new DomainError("invalid_field", 'The field "id" goes with a product or a project: leave it out for the workspace');
    }
    if (kind !== "workspace" && id === undefined) {
      throw new DomainError("invalid_field", `The field "id" is missing: the id of a ${kind} is needed`);
    }
    const target = id ?? null;
    if (kind !== "workspace" && target !== null) await requireResource(kind, { workspace: caller.workspace, id: target }, sql);
    await updateScope({ id: caller.key, kind, target }, sql);
    return { data: { kind, id: target }, message: `Lists show the ${target === null ? "whole workspace" : `${kind} ${target}`}` };
  },
});
