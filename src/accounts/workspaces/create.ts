import type { Actor } from "../audit/actor.ts";
import { change, type Sources } from "../audit/change.ts";
import { changedFields } from "../audit/changes.ts";
import { newWorkspaceId, type WorkspaceId } from "../../kernel/ids.ts";
import { authorize, operatorOnly } from "./authorize.ts";
import { DomainError } from "../errors.ts";
import { insertWorkspace } from "./store.ts";

/**
 * Creates a workspace: enabled, with fallbacks, other settings off, no spend limit, no credit.
 * @throws DomainError conflict for a name that exists
 */
export async function createWorkspace(
  { actor, name: typed }: { actor: Actor; name: string },
  sources: Sources,
): Promise<{ id: WorkspaceId; name: string }> {
  authorize(actor, { roles: operatorOnly, action: "create a workspace" });
  const name = checkedName(typed);
  return change(actor, sources, async (tx) => {
    const at = sources.clock.now();
    const id = newWorkspaceId(at);
    if (!(await insertWorkspace({ id, name, at }, tx))) {
      throw new DomainError("conflict", `There is a workspace named "${name}" already`, { field: "name" });
    }
    const changes = changedFields({ before: {}, after: { name } });
    return { result: { id, name }, event: { event: "workspace.created", workspace: id, target: id, changes } };
  });
}

/** Requests and paths name a workspace by id or name, so a name must not look like an id or a special path. */
const unusable = [
  { form: /^$/, cause: "it is empty" },
  { form: /^ws-[a-z2-7]{26}$/, cause: "it has the form of an id" },
  { form: /^\.{1,2}$/, cause: "it has a meaning in paths" },
];

function checkedName(typed: string): string {
  const name = typed.trim();
  const cause = unusable.find(({ form }) => form.test(name))?.cause;
  if (cause === undefined) return name;
  throw new DomainError("invalid_field", `Cannot name a workspace "${name}": ${cause}`, { field: "name" });
}
