import type { Caller } from "../../api/operations/caller.ts";
import type { ListScope } from "./list-store.ts";

/** The scope of a key's lists, unless the call names another one. */
export function activeScope({ scope, workspace }: Caller): ListScope {
  return scope.kind === "workspace" ? { kind: "workspace", id: workspace } : scope;
}
