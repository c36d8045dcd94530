/**
 * Opens findings again whose accepted risk has ended: the day after its last day, in UTC and by the service's clock.
 *
 * A project is one transaction or a few, with the project locked as for a decision, so that no one decides about the same findings meanwhile.
 * A finding that is gone stays resolved, and opens when it returns. The decision keeps its person, note and owner. Several processes may do
 * this at once, and a round that is cut off leaves the rest to the next one.
 */
import { change, type AuditEvent } from "../../../accounts/audit/change.ts";
import { allowLocks, type Database, type Transaction } from "../../../backing/backing.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { decisionWaitMs } from "../../limits.ts";
import { acceptancesEndedMax } from "../limits.ts";
import { scannerName } from "../scan/record-matches.ts";
import { insertEvents } from "../scan/scan-store.ts";
import * as store from "../triage-store.ts";
import { findingAfter } from "../decision.ts";

interface Parts {
  sql: Database;
  clock: Clock;
}

/** @returns how many decisions ended; 0: none is left */
export async function endAcceptedRisks({ sql, clock }: Parts): Promise<number> {
  const at = new Date(clock.now());
  const today = at.toISOString().slice(0, 10);
  let ended = 0;
  for (const { project, workspace } of await store.selectEndedAcceptances({ today, limit: acceptancesEndedMax }, sql)) {
    ended += await change({ kind: "service" }, { sql, clock }, async (tx) => {
      await allowLocks(decisionWaitMs, tx);
      await store.lockDecisions(project, tx);
      const pairs = await store.endAcceptances({ project, today, limit: acceptancesEndedMax }, tx);
      const event: AuditEvent[] = [];
      for (const pair of pairs) event.push(...(await open({ ...pair, project, workspace, at }, tx)));
      return { result: pairs.length, event };
    });
  }
  return ended;
}

interface Ended extends store.Pair {
  acceptedUntil: string;
  project: string;
  workspace: WorkspaceId;
  at: Date;
}

async function open({ acceptedUntil, workspace, at, ...pair }: Ended, tx: Transaction): Promise<AuditEvent[]> {
  const versions = await store.selectVersions(pair, tx);
  const opened = versions.flatMap((finding) => {
    const after = findingAfter(finding, { status: "open", falsePositive: finding.falsePositive });
    return after.status === finding.status ? [] : [{ ...after, id: finding.id }];
  });
  await store.updateDecided(opened, tx);
  const ended = { accepted_until: { from: acceptedUntil, to: null } };
  const changed = opened.map(({ id, changes }) => ({ id, changes: { ...changes, ...ended } }));
  const events = changed.map(({ id, changes }) => ({ finding: id, cause: "acceptance_ended" as const, changes }));
  await insertEvents(events, { actor: scannerName, at }, tx);
  return changed.map(({ id, changes }) => ({ event: "finding.updated", workspace, target: id, changes }));
}
