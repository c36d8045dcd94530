import { Type, type Static } from "@sinclair/typebox";
import { ScopeKind } from "../../accounts/keys/schema.ts";

export const ScopeView = Type.Object({
  kind: ScopeKind,
  id: Type.Union([Type.String(), Type.Null()], { description: "Id of the product or project; null for a workspace" }),
});
export type ScopeView = Static<typeof ScopeView>;
