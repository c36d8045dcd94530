/** Saves one group of settings: only what differs from what the form showed, so that two people do not undo each other's changes. */
import type { WorkspaceView } from "../../../accounts/workspaces/schema.ts";
import type { FormFields } from "../../form.ts";
import type { ActionResult, PageCall } from "../../page.ts";
import type { Setting, SettingGroup } from "./setting-groups.ts";

/** Names the hidden field with the value that the form showed. */
export function shownName(name: string): string {
  return `was.${name}`;
}

const appliesSoon = "The settings are saved. They apply within 30 seconds.";

export function saveGroup({ settings, said = appliesSoon }: SettingGroup) {
  return async (call: PageCall, typed: FormFields): Promise<ActionResult> => {
    const changed = settings.filter(({ name }) => typed.text(name) !== typed.text(shownName(name)));
    if (changed.length === 0) return { goTo: call.path, said: "Nothing was changed." };
    const path = `/workspaces/${call.workspace.id}`;
    await call.control("PATCH", path, await editOf(changed, typed, () => call.control<WorkspaceView>("GET", path)));
    return { goTo: call.path, said };
  };
}

async function editOf(changed: readonly Setting[], typed: FormFields, current: () => Promise<WorkspaceView>) {
  const edit: Record<string, unknown> = {};
  const switched = new Map<string, boolean>();
  for (const { name, kind } of changed) {
    const [field, feature] = name.split(".");
    const value = typed.text(name);
    if (feature !== undefined) switched.set(feature, value === "true");
    else if (field !== undefined) edit[field] = fieldOf(kind, value);
  }
  if (switched.size === 0) return edit;
  const others = (await current()).early_access.filter((feature) => !switched.has(feature));
  return { ...edit, early_access: [...others, ...[...switched].flatMap(([feature, on]) => (on ? [feature] : []))] };
}

/** What is no number stays text, which the control API refuses by the field's name. */
function fieldOf(kind: Setting["kind"], value: string): boolean | number | string | null {
  if (kind === "check") return value === "true";
  if (value === "") return null;
  return kind === "whole" && /^\d{1,9}$/.test(value) ? Number(value) : value;
}
