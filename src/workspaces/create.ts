import type { Actor } from "../audit/actor.ts";
import { change, type Sources } from "../audit/change.ts";
import { changedFields } from "../audit/changes.ts";
import { newWorkspaceId, type WorkspaceId } from "../kernel/ids.ts";
import { allow, nobody } from "./allow.ts";
import { ControlError } from "./control-error.ts";
import { insertWorkspace } from "./store.ts";

/**
 * Opens a workspace: enabled, with fallbacks, everything else off, no spend limit, no credit.
 * @throws ControlError conflict when the name is taken
 */
export async function createWorkspace(
  { actor, name: typed }: { actor: Actor; name: string },
  sources: Sources,
): Promise<{ id: WorkspaceId; name: string }> {
  allow(actor, { roles: nobody, action: "create a workspace" });
  const name = checkedName(typed);
  return change(actor, sources, async (tx) => {
    const at = sources.clock.now();
    const id = newWorkspaceId(at);
    if (!(await insertWorkspace({ id, name, at }, tx))) {
      throw new ControlError("conflict", { field: "name", message: `There is a workspace named "${name}" already` });
    }
    const changes = changedFields({ before: {}, after: { name } });
    return { result: { id, name }, event: { event: "workspace.created", workspace: id, target: id, changes } };
  });
}

/** A workspace is named by id or name wherever it is asked for, so no name may look like an id. */
function checkedName(typed: string): string {
  const name = typed.trim();
  const cause = name === "" ? "it is empty" : /^ws-[a-z2-7]{26}$/.test(name) ? "it has the form of an id" : null;
  if (cause) throw new ControlError("invalid_field", { field: "name", message: `Cannot name a workspace "${name}": ${cause}` });
  return name;
}
