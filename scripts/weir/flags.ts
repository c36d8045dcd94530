/** Flags that several verbs share. */
import { id, text } from "./value.ts";
import type { Flag } from "./verb.ts";

export const workspace: Flag = { name: "workspace", field: "workspace", value: text, help: "id or exact name of the workspace" };
export const ofWorkspace: Flag = { ...workspace, required: true };

export function withId(help: string): Flag {
  return { name: "id", field: "id", value: id, required: true, help };
}
