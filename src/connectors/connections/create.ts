import type { Actor } from "../../accounts/audit/actor.ts";
import { change, type Sources } from "../../accounts/audit/change.ts";
import { changedFields } from "../../accounts/audit/changes.ts";
import type { ConnectorRow } from "../catalog/row.ts";
import { newConnectionId, type WorkspaceId } from "../../kernel/ids.ts";
import { connectionsPerWorkspaceMax } from "../limits.ts";
import { dataKeyOf } from "../../accounts/secrets/data-key.ts";
import type { Keyring } from "../../accounts/secrets/keyring.ts";
import { authorize, managers } from "../../accounts/workspaces/authorize.ts";
import { DomainError } from "../../accounts/errors.ts";
import { checkCredentials } from "./check-credentials.ts";
import type { ConnectionForm, ConnectionView } from "./schema.ts";
import { sealCredentials } from "./sealed-credentials.ts";
import { findConnection, viewConnection } from "./show.ts";
import { countConnections, insertConnection, writeFields } from "./store.ts";

/** Methods with credentials to store: OAuth is not supported yet, and an MCP server needs none. */
const storable = ["api_token", "record_only"];

/**
 * Connects a workspace to a vendor. The credentials are sealed before they reach the database.
 * @throws DomainError invalid_field; forbidden except for admins, super admins and the operator; conflict above the number of
 *   connections that a workspace may have
 */
export async function createConnection(
  { actor, workspace, connector, form }: { actor: Actor; workspace: WorkspaceId; connector: ConnectorRow; form: ConnectionForm },
  { keyring, ...sources }: Sources & { keyring: Keyring },
): Promise<ConnectionView> {
  authorize(actor, { roles: managers, action: "connect a vendor" });
  const method = methodOf(form, connector);
  const set = form.credential_set ?? 0;
  const credentials = checkCredentials({ set, credentials: form.credentials ?? {} }, connector);
  return change(actor, sources, async (tx) => {
    if ((await countConnections(workspace, tx)) >= connectionsPerWorkspaceMax) throw tooMany();
    const at = sources.clock.now();
    const id = newConnectionId(at);
    const owner = { workspace, id, connector: connector.id };
    await insertConnection({ ...owner, method, credentialSet: set, at }, tx);
    const key = await dataKeyOf(workspace, { sql: tx, keyring });
    await writeFields({ id, fields: sealCredentials(credentials, owner, key) }, tx);
    const after = { connector: connector.id, method, credential_set: set, fields: [...credentials.keys()] };
    const event = { event: "connection.created", workspace, target: id, changes: changedFields({ before: {}, after }) };
    return { result: viewConnection(await findConnection(id, tx)), event };
  });
}

function methodOf({ method }: ConnectionForm, { methods }: ConnectorRow): string {
  const possible = methods.filter((one) => storable.includes(one));
  const chosen = method === undefined ? possible[0] : possible.find((one) => one === method);
  if (chosen !== undefined) return chosen;
  const message = `Cannot connect by "${method}": this connector takes ${possible.join(" or ")}`;
  throw new DomainError("invalid_field", message, { field: "method" });
}

function tooMany(): DomainError {
  const message = `Cannot connect another vendor: a workspace has at most ${connectionsPerWorkspaceMax} connections`;
  return new DomainError("conflict", message);
}
