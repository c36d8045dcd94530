/**
 * The connections of a workspace to vendors: list, create, replace credentials, test, and delete.
 *
 * Credentials are sealed before they reach the database, and no answer, log or audit row holds a value; rows name the fields. New
 * credentials replace all old ones. Connections of other workspaces are not found, which hides that they exist. Only the service's own
 * calls to a vendor read a token, through `findToken`.
 *
 * A test is one call that changes nothing at the vendor. Its answer says whether the credentials work and shows none of the vendor's text.
 * Tests are rate-limited, since many would reveal which stolen credentials work.
 */
import { type Actor, authorize, managers } from "../../accounts/audit/actor.ts";
import { change, type Sources, changedFields, type AuditEvent } from "../../accounts/audit/change.ts";
import { DomainError } from "../../accounts/errors.ts";
import { connectionTestsPerHourMax } from "../../accounts/limits.ts";
import { countAct } from "../../accounts/quotas/hourly-acts.ts";
import { dataKeyOf, findDataKey } from "../../accounts/secrets/data-key.ts";
import type { Keyring } from "../../accounts/secrets/keyring.ts";
import type { Queries } from "../../backing/backing.ts";
import { isJson } from "../../http/json.ts";
import { BaseUrlError } from "../../http/public-address.ts";
import { PrivateAddressError, TooLargeError } from "../../http/safe-fetch.ts";
import { isoTime, type Clock } from "../../kernel/clock.ts";
import { errorCode } from "../../kernel/error-code.ts";
import { type WorkspaceId, newConnectionId } from "../../kernel/ids.ts";
import { SealError } from "../../kernel/seal-key.ts";
import type { AwsAccount } from "../../process/environment/services.ts";
import type { ConnectorRow } from "../catalog/row.ts";
import { connectionsPerWorkspaceMax } from "../limits.ts";
import { roleProbe, viewRole } from "./aws-role.ts";
import { checkCredentials, sealCredentials, openCredentials, type Credentials } from "./credentials.ts";
import { CredentialError, valueOf, VendorError, type Probe, type ProbeAnswer, type ProbeFetch } from "./probe.ts";
import { probeFor } from "./probes.ts";
import type {
  ConnectionView,
  ConnectionForm,
  ConnectionName,
  NewCredentials,
  ConnectionDeleted,
  ConnectionTest,
  Outcome,
} from "./schema.ts";
import * as store from "./store.ts";

/** Finds a connection in any workspace. @throws DomainError not_found */
export async function findConnection(id: string, sql: Queries): Promise<store.ConnectionRow> {
  const row = await store.selectConnection(id, sql);
  return requireConnection({ id, workspace: row?.workspace ?? "", row });
}

/** @throws DomainError not_found also for another workspace's, which hides that it exists */
export function requireConnection({
  id,
  workspace,
  row,
}: {
  id: string;
  workspace: WorkspaceId;
  row: store.ConnectionRow | undefined;
}): store.ConnectionRow {
  if (row?.workspace === workspace) return row;
  throw noConnection(id);
}

export function noConnection(id: string): DomainError {
  return new DomainError("not_found", `There is no connection with the id "${id}"`, { field: "id" });
}

/** In order of creation, without credentials. @param workspace null: the first of all workspaces */
export async function listConnections(
  workspace: WorkspaceId | null,
  { sql, find, aws }: Found & { sql: Queries },
): Promise<ConnectionView[]> {
  const rows = await store.selectConnections({ workspace, limit: connectionsPerWorkspaceMax }, sql);
  return rows.map((row) => viewConnection(row, { connector: find(row.connector), aws }));
}

interface Found extends Account {
  /** Finds a connector in the catalog that is served. */
  find(id: string): ConnectorRow | undefined;
}

interface Account {
  /** This service's account at AWS; null: none is set. */
  aws: AwsAccount | null;
}

/** @param connector undefined: the catalog no longer has it */
export function viewConnection(
  row: store.ConnectionRow,
  { connector, aws }: Account & { connector: ConnectorRow | undefined },
): ConnectionView {
  return {
    id: row.id,
    workspace_id: row.workspace,
    connector: row.connector,
    name: row.name,
    method: row.method,
    credential_set: row.credentialSet,
    fields: row.fields,
    created_at: isoTime(row.createdAt.getTime()),
    updated_at: isoTime(row.updatedAt.getTime()),
    role_access: viewRole(row, aws),
    testable: (probeFor(row, connector) ?? roleProbe(row, aws)) !== undefined,
    last_test: viewTest(row),
  };
}

/**
 * Connects a workspace to a vendor. The credentials are sealed before they reach the database.
 * @throws DomainError invalid_field; forbidden except for admins, super admins and the operator; conflict if the workspace has too many
 *   connections
 */
export async function createConnection(
  { actor, workspace, connector, form }: { actor: Actor; workspace: WorkspaceId; connector: ConnectorRow; form: ConnectionForm },
  { keyring, aws, ...sources }: Sources & Account & { keyring: Keyring },
): Promise<ConnectionView> {
  authorize(actor, { roles: managers, action: "connect a vendor" });
  const method = methodOf(form, connector);
  const set = form.credential_set ?? 0;
  const credentials = checkCredentials({ set, credentials: form.credentials ?? {} }, connector);
  return change(actor, sources, async (tx) => {
    if ((await store.countConnections(workspace, tx)) >= connectionsPerWorkspaceMax) throw tooMany();
    const at = sources.clock.now();
    const id = newConnectionId(at);
    const owner = { workspace, id, connector: connector.id };
    await store.insertConnection({ ...owner, name: form.name?.trim() || null, method, credentialSet: set, at }, tx);
    const key = await dataKeyOf(workspace, { sql: tx, keyring });
    await store.writeFields({ id, fields: sealCredentials(credentials, owner, key) }, tx);
    const after = { connector: connector.id, method, credential_set: set, fields: [...credentials.keys()] };
    const event: AuditEvent = {
      event: "connection.created",
      workspace,
      target: id,
      changes: changedFields({ before: {}, after }),
    };
    return { result: viewConnection(await findConnection(id, tx), { connector, aws }), event };
  });
}

/**
 * Gives a connection another name. Records nothing if it has that name.
 * @param connector undefined: the catalog no longer has it
 * @throws DomainError not_found also for another workspace's; forbidden except for admins, super admins and the operator
 */
export async function renameConnection(
  request: { actor: Actor; workspace: WorkspaceId; id: string; connector: ConnectorRow | undefined; form: ConnectionName },
  { aws, ...sources }: Sources & Account,
): Promise<ConnectionView> {
  const { actor, workspace, id, connector, form } = request;
  authorize(actor, { roles: managers, action: "rename a connection" });
  const name = form.name.trim() || null;
  return change(actor, sources, async (tx) => {
    const row = requireConnection({ id, workspace, row: await store.lockConnection(id, tx) });
    const changes = changedFields({ before: { name: row.name }, after: { name } });
    await store.updateName({ id, name }, tx);
    const event =
      Object.keys(changes).length === 0 ? null : ({ event: "connection.renamed", workspace, target: id, changes } as const);
    return { result: viewConnection({ ...row, name }, { connector, aws }), event };
  });
}

/**
 * Replaces all credentials with new ones.
 * @param connector the connection's connector
 * @throws DomainError invalid_field, not_found also for another workspace's; forbidden except for admins, super admins and the operator
 */
export async function replaceCredentials(
  request: { actor: Actor; workspace: WorkspaceId; id: string; connector: ConnectorRow; form: NewCredentials },
  { keyring, aws, ...sources }: Sources & Account & { keyring: Keyring },
): Promise<ConnectionView> {
  const { actor, workspace, id, connector, form } = request;
  authorize(actor, { roles: managers, action: "replace a connection's credentials" });
  return change(actor, sources, async (tx) => {
    const row = requireConnection({ id, workspace, row: await store.lockConnection(id, tx) });
    const set = form.credential_set ?? row.credentialSet;
    const credentials = checkCredentials({ set, credentials: form.credentials }, connector);
    const key = await dataKeyOf(workspace, { sql: tx, keyring });
    await store.writeFields({ id, fields: sealCredentials(credentials, row, key) }, tx);
    await store.updateCredentialSet({ id, credentialSet: set, at: sources.clock.now() }, tx);
    const view = viewConnection(await findConnection(id, tx), { connector, aws });
    const before = { credential_set: row.credentialSet, fields: row.fields };
    const changes = changedFields({ before, after: { credential_set: set, fields: view.fields } });
    return { result: view, event: { event: "connection.credentials.replaced", workspace, target: id, changes } };
  });
}

/**
 * Permanently deletes a connection and its credentials.
 * @throws DomainError not_found also for another workspace's; forbidden except for admins, super admins and the operator
 */
export async function deleteConnection(
  { actor, workspace, id }: { actor: Actor; workspace: WorkspaceId; id: string },
  sources: Sources,
): Promise<ConnectionDeleted> {
  authorize(actor, { roles: managers, action: "delete a connection" });
  return change(actor, sources, async (tx) => {
    requireConnection({ id, workspace, row: await store.lockConnection(id, tx) });
    await store.deleteRow(id, tx);
    return { result: { id, deleted: true as const }, event: { event: "connection.deleted", workspace, target: id, changes: {} } };
  });
}

interface Wanted {
  workspace: WorkspaceId;
  /** Id of the connector. */
  connector: string;
  /** Key of the form's field. */
  field: string;
}

/**
 * Finds the token of a workspace's connection, the one with the newest credentials.
 * @returns null if the workspace has no connection with the field
 * @throws SealError if SECRETS_KEY no longer has the key that sealed it
 */
export async function findToken(
  { workspace, connector, field }: Wanted,
  sources: { sql: Queries; keyring: Keyring },
): Promise<string | null> {
  const id = await store.selectNewestWithField({ workspace, connector, field }, sources.sql);
  const key = id === undefined ? null : await findDataKey(workspace, sources);
  if (id === undefined || !key) return null;
  const credentials = openCredentials(await store.selectFields(id, sources.sql), { workspace, id, connector }, key);
  return credentials.get(field) ?? null;
}

function viewTest({ testedAt, testOutcome: outcome, testStatus: status, testMessage: message }: store.ConnectionRow) {
  if (testedAt === null || outcome === null) return null;
  return { outcome, status, message: message ?? "", tested_at: isoTime(testedAt.getTime()) };
}

/** Methods with credentials to store: OAuth is not supported yet, and an MCP server needs none. */
const storable = ["api_token", "record_only"];

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

// Testing a connection.

/**
 * Calls the vendor with a connection's credentials.
 * @throws DomainError conflict if there is no test for the connection; not_found also for another workspace's; forbidden except for admins,
 *   super admins and the operator; unavailable if SECRETS_KEY no longer has the key that sealed it
 * @throws LimitReachedError for too many tests per hour
 */
export async function testConnection(
  { actor, workspace, id }: { actor: Actor; workspace: WorkspaceId; id: string },
  { keyring, probeFetch, sql, clock, find, aws }: Sources & Found & { keyring: Keyring; probeFetch: ProbeFetch },
): Promise<ConnectionTest> {
  authorize(actor, { roles: managers, action: "test a connection" });
  const row = requireConnection({ id, workspace, row: await findConnection(id, sql) });
  const probe = probeFor(row, find(row.connector)) ?? roleProbe(row, aws);
  if (!probe) throw new DomainError("conflict", `There is no test for this connection to "${row.connector}"`);
  const credentials = await openConnection(row, { sql, keyring });
  // Many tests would reveal which stolen credentials work.
  await countAct({ workspace, act: "tests of connections", max: connectionTestsPerHourMax }, { sql, clock });
  const found = await run(probe, credentials, { probeFetch, clock });
  return change(actor, { sql, clock }, async (tx) => {
    const at = clock.now();
    await store.updateTest(row, { ...found, at }, tx);
    const result = { id, ok: found.outcome === "works", ...found, tested_at: isoTime(at) };
    const changes = changedFields({ before: {}, after: { outcome: found.outcome, status: found.status } });
    return { result, event: { event: "connection.tested", workspace, target: id, changes } };
  });
}

/** @throws DomainError unavailable if SECRETS_KEY no longer has the key that sealed it */
export async function openConnection(
  row: store.ConnectionRow,
  sources: { sql: Queries; keyring: Keyring },
): Promise<Credentials> {
  try {
    const key = await findDataKey(row.workspace, sources);
    if (key) return openCredentials(await store.selectFields(row.id, sources.sql), row, key);
    throw new SealError("The data key of its workspace is missing");
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new DomainError("unavailable", `The credentials cannot be opened: ${error.message}`);
  }
}

interface Tried {
  outcome: Outcome;
  status: number | null;
  message: string;
}

async function run(probe: Probe, credentials: Credentials, parts: { probeFetch: ProbeFetch; clock: Clock }): Promise<Tried> {
  try {
    return judge(await probe.call(valueOf(credentials), parts), probe.lacksGrant ?? []);
  } catch (error) {
    if (error instanceof CredentialError) return { outcome: "unusable", status: null, message: error.message };
    if (error instanceof VendorError) return { outcome: error.outcome, status: error.status, message: error.message };
    return { outcome: "unreachable", status: null, message: whyUnreachable(error) };
  }
}

/** The codes of Node.js and Bun for names that do not resolve, and for certificates: https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const nameErrors = ["ENOTFOUND", "EAI_AGAIN", "ENODATA", "DNS_ENOTFOUND", "DNS_ENODATA"];
const certificateErrors = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|TLS|SSL/;

/** Why there was no answer from a vendor, in words of ours. */
export function whyUnreachable(error: unknown): string {
  if (error instanceof BaseUrlError || error instanceof PrivateAddressError) return "The vendor's host is not publicly reachable";
  const code = errorCode(error);
  if (nameErrors.includes(code)) return "There is no host of this name: check the address";
  if (certificateErrors.test(code)) return "The host's certificate is not valid, so nothing was sent";
  if (error instanceof TooLargeError) return "The vendor's answer is too large";
  return "The vendor did not answer";
}

function judge({ status, body }: ProbeAnswer, lacksGrant: readonly number[]): Tried {
  if (lacksGrant.includes(status))
    return { outcome: "lacks_grant", status, message: "The vendor accepts the credentials, and they lack the right to read" };
  if (status === 404)
    return { outcome: "unexpected", status, message: "The vendor has no such page: check the address and the account" };
  if (status === 429) return { outcome: "rate_limited", status, message: "The vendor gets too many requests: test again later" };
  if (status === 401 || status === 403) return { outcome: "refused", status, message: "The vendor refused the credentials" };
  if (status === 200 && isJson(body)) return { outcome: "works", status, message: "The vendor accepted the credentials" };
  return { outcome: "unexpected", status, message: `The vendor answered with status ${status}, which shows nothing` };
}
