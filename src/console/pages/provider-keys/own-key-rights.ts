import { managers } from "../../../accounts/workspaces/authorize.ts";
import type { WorkspaceView } from "../../../accounts/workspaces/schema.ts";
import type { PageCall } from "../../page.ts";

/** @returns null: the viewer may store and change provider keys; otherwise why not */
export async function reasonAgainstKeys(call: PageCall): Promise<string | null> {
  const { role, id } = call.workspace;
  if (role !== "operator" && !managers.includes(role)) return `Provider keys are managed by admins. Your role is ${role}.`;
  const { early_access: features } = await call.control<WorkspaceView>("GET", `/workspaces/${id}`);
  if (features.includes("own_keys")) return null;
  return "Own provider keys are in early access, and off for this workspace: the operator switches them on in its settings.";
}
