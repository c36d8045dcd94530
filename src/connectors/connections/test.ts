/**
 * Tests a connection: one call that changes nothing at the vendor. The answer says whether the credentials work and shows none of the
 * vendor's text. Tests are counted, since many would show which of a stranger's credentials are good.
 */
import type { Actor } from "../../accounts/audit/actor.ts";
import { change, type Sources, changedFields } from "../../accounts/audit/change.ts";
import type { Queries } from "../../backing/backing.ts";
import { isoTime, type Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { SealError } from "../../kernel/seal-key.ts";
import { findDataKey } from "../../accounts/secrets/data-key.ts";
import type { Keyring } from "../../accounts/secrets/keyring.ts";
import { connectionTestsPerHourMax } from "../../accounts/limits.ts";
import { countAct } from "../../accounts/quotas/hourly-acts.ts";
import { authorize, managers } from "../../accounts/workspaces/authorize.ts";
import { DomainError } from "../../accounts/errors.ts";
import { BaseUrlError } from "../../http/public-address.ts";
import { PrivateAddressError } from "../../http/safe-fetch.ts";
import { type Credentials, openCredentials } from "./credentials.ts";
import { CredentialError, valueOf, type Probe, type ProbeAnswer, type ProbeFetch } from "./probe.ts";
import { probeFor } from "./probes.ts";
import type { ConnectionTest, Outcome } from "./schema.ts";
import { findConnection, requireConnection } from "./connections.ts";
import { selectFields, updateTest, type ConnectionRow } from "./store.ts";

/**
 * Calls the vendor with a connection's credentials.
 * @throws DomainError conflict if there is no test for the connection; not_found even for another workspace's; forbidden except
 *   for admins, super admins and the operator; unavailable if the key that sealed it is not among those of SECRETS_KEY
 * @throws LimitReachedError with too many in an hour
 */
export async function testConnection(
  { actor, workspace, id }: { actor: Actor; workspace: WorkspaceId; id: string },
  { keyring, probeFetch, sql, clock }: Sources & { keyring: Keyring; probeFetch: ProbeFetch },
): Promise<ConnectionTest> {
  authorize(actor, { roles: managers, action: "test a connection" });
  const row = requireConnection({ id, workspace, row: await findConnection(id, sql) });
  const probe = probeFor(row);
  if (!probe) throw new DomainError("conflict", `There is no test for this connection to "${row.connector}"`);
  const credentials = await opened(row, { sql, keyring });
  // Many would show which of a stranger's credentials are good.
  await countAct({ workspace, act: "tests of connections", max: connectionTestsPerHourMax }, { sql, clock });
  const found = await run(probe, credentials, { probeFetch, clock });
  return change(actor, { sql, clock }, async (tx) => {
    const at = clock.now();
    await updateTest(row, { ...found, at }, tx);
    const result = { id, ok: found.outcome === "works", ...found, tested_at: isoTime(at) };
    const changes = changedFields({ before: {}, after: { outcome: found.outcome, status: found.status } });
    return { result, event: { event: "connection.tested", workspace, target: id, changes } };
  });
}

async function opened(row: ConnectionRow, sources: { sql: Queries; keyring: Keyring }): Promise<Credentials> {
  try {
    const key = await findDataKey(row.workspace, sources);
    if (key) return openCredentials(await selectFields(row.id, sources.sql), row, key);
    throw new SealError("The data key of its workspace is missing");
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new DomainError("unavailable", `The credentials cannot be opened: ${error.message}`);
  }
}

interface Found {
  outcome: Outcome;
  status: number | null;
  message: string;
}

async function run(probe: Probe, credentials: Credentials, parts: { probeFetch: ProbeFetch; clock: Clock }): Promise<Found> {
  try {
    return judge(await probe.call(valueOf(credentials), parts));
  } catch (error) {
    if (error instanceof CredentialError) return { outcome: "unusable", status: null, message: error.message };
    const isPrivate = error instanceof BaseUrlError || error instanceof PrivateAddressError;
    const message = isPrivate ? "The vendor's host is not reachable from everywhere" : "The vendor did not answer";
    return { outcome: "unreachable", status: null, message };
  }
}

function judge({ status, body }: ProbeAnswer): Found {
  if (status === 401 || status === 403) return { outcome: "refused", status, message: "The vendor refused the credentials" };
  if (status === 200 && isJson(body)) return { outcome: "works", status, message: "The vendor accepted the credentials" };
  return { outcome: "unexpected", status, message: `The vendor answered with status ${status}, which shows nothing` };
}

function isJson(body: string): boolean {
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
}
