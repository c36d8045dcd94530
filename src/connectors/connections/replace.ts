import type { Actor } from "../../accounts/audit/actor.ts";
import { change, type Sources } from "../../accounts/audit/change.ts";
import { changedFields } from "../../accounts/audit/changes.ts";
import type { ConnectorRow } from "../catalog/row.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { dataKeyOf } from "../../accounts/secrets/data-key.ts";
import type { Keyring } from "../../accounts/secrets/keyring.ts";
import { authorize, managers } from "../../accounts/workspaces/authorize.ts";
import { checkCredentials } from "./check-credentials.ts";
import type { ConnectionView, NewCredentials } from "./schema.ts";
import { sealCredentials } from "./sealed-credentials.ts";
import { findConnection, requireConnection, viewConnection } from "./show.ts";
import { lockConnection, updateCredentialSet, writeFields } from "./store.ts";

/**
 * Replaces all credentials by new ones.
 * @param connector of the connection
 * @throws DomainError invalid_field, not_found also for another workspace's; forbidden except for admins, super admins and the operator
 */
export async function replaceCredentials(
  request: { actor: Actor; workspace: WorkspaceId; id: string; connector: ConnectorRow; form: NewCredentials },
  { keyring, ...sources }: Sources & { keyring: Keyring },
): Promise<ConnectionView> {
  const { actor, workspace, id, connector, form } = request;
  authorize(actor, { roles: managers, action: "replace a connection's credentials" });
  return change(actor, sources, async (tx) => {
    const row = requireConnection({ id, workspace, row: await lockConnection(id, tx) });
    const set = form.credential_set ?? row.credentialSet;
    const credentials = checkCredentials({ set, credentials: form.credentials }, connector);
    const key = await dataKeyOf(workspace, { sql: tx, keyring });
    await writeFields({ id, fields: sealCredentials(credentials, row, key) }, tx);
    await updateCredentialSet({ id, credentialSet: set, at: sources.clock.now() }, tx);
    const view = viewConnection(await findConnection(id, tx));
    const before = { credential_set: row.credentialSet, fields: row.fields };
    const changes = changedFields({ before, after: { credential_set: set, fields: view.fields } });
    return { result: view, event: { event: "connection.credentials.replaced", workspace, target: id, changes } };
  });
}
