/** Finds the token of a workspace's connection, for the service's own calls of a vendor. */
import type { Queries } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { findDataKey } from "../../accounts/secrets/data-key.ts";
import type { Keyring } from "../../accounts/secrets/keyring.ts";
import { openCredentials } from "./sealed-credentials.ts";
import { selectFields, selectNewestWithField } from "./store.ts";

interface Wanted {
  workspace: WorkspaceId;
  /** Id of the connector. */
  connector: string;
  /** Key of the form's field. */
  field: string;
}

/**
 * Takes the connection with the newest credentials.
 * @returns null if the workspace has no connection with the field
 * @throws SealError if the key that sealed it is not among those of SECRETS_KEY
 */
export async function findToken(
  { workspace, connector, field }: Wanted,
  sources: { sql: Queries; keyring: Keyring },
): Promise<string | null> {
  const id = await selectNewestWithField({ workspace, connector, field }, sources.sql);
  const key = id === undefined ? null : await findDataKey(workspace, sources);
  if (id === undefined || !key) return null;
  const credentials = openCredentials(await selectFields(id, sources.sql), { workspace, id, connector }, key);
  return credentials.get(field) ?? null;
}
