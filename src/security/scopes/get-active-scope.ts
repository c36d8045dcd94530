import { Type } from "@sinclair/typebox";
import { operation, reading } from "../api/operations/operation.ts";
import { ScopeView } from "./schema.ts";

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
