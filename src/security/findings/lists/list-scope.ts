import type { Caller } from "../../api/operations/caller.ts";
import type { ListScope } from "./list-store.ts";

/** What a key's lists show where the call names nothing else. */
export function activeScope({ scope, workspace }: Caller): ListScope {
  return scope.kind === "workspace" ? { kind: "workspace", id: workspace } : scope;
}
