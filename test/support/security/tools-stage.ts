/** A database with a workspace of each role, and the tools API over it with a key of `member@<workspace>`. */
import type { AttachmentFolder } from "../../../src/security/tickets/attachment-folder.ts";
import { Control } from "../control.ts";
import type { TestDatabase } from "../servers/databases.ts";
import { ToolsApi } from "./tools-api.ts";

export interface ToolsStage extends AsyncDisposable {
  database: TestDatabase;
  control: Control;
  api: ToolsApi;
  /** Id of the workspace "w". */
  workspace: string;
  /** A further tools key. @param owner of a member of the workspace */
  key(owner?: string): Promise<string>;
}

export async function toolsStage(
  open: () => Promise<TestDatabase>,
  settings: { sendsMail?: boolean; attachments?: AttachmentFolder } = {},
): Promise<ToolsStage> {
  const database = await open();
  const control = new Control(database.sql);
  const workspace = await control.workspace("w");
  const key = async (owner = "member@w") => (await control.key("w", { kind: "tools", owner })).key;
  const { clock, keyring, platforms } = control;
  const api = new ToolsApi(database.sql, await key(), { clock, keyring, platforms, ...settings });
  return { database, control, api, workspace, key, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
}
