/**
 * Opens findings again whose accepted risk has ended: the day after its last day, in UTC and by the service's clock.
 *
 * A project is one transaction or a few, with the project locked as for a decision, so that no one decides about the same findings meanwhile.
 * A finding that is gone stays resolved, and opens when it returns. The decision keeps its person, note and owner. Several processes may do
 * this at once, and a round that is cut off leaves the rest to the next one. The alert is recorded in the transaction that opens the
 * findings, so each ending is reported once, also if several processes look.
 */
import { hasRule, raiseAlert } from "../../../accounts/alerts/alerts.ts";
import { endedRisksText } from "../../../accounts/alerts/words.ts";
import { change, type AuditEvent } from "../../../accounts/audit/change.ts";
import { allowLocks, type Database, type Transaction } from "../../../backing/backing.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { shortened } from "../../../kernel/text.ts";
import { decisionWaitMs } from "../../limits.ts";
import { acceptancesEndedMax, alertLineCharactersMax, findingsNamedMax } from "../limits.ts";
import { severityOf } from "../schema.ts";
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
  for (const { project, name, workspace } of await store.selectEndedAcceptances({ today, limit: acceptancesEndedMax }, sql)) {
    ended += await change({ kind: "service" }, { sql, clock }, async (tx) => {
      await allowLocks(decisionWaitMs, tx);
      await store.lockDecisions(project, tx);
      const pairs = await store.endAcceptances({ project, today, limit: acceptancesEndedMax }, tx);
      const opened: Opened[] = [];
      for (const pair of pairs) opened.push(...(await open(pair, { project, at }, tx)));
      await report(opened, { project: { id: project, name }, workspace, today }, { sql: tx, clock });
      const event = opened.map(({ id, changes }): AuditEvent => ({ event: "finding.updated", workspace, target: id, changes }));
      return { result: pairs.length, event };
    });
  }
  return ended;
}

interface Opened extends Pick<store.EndedAcceptance, "acceptedUntil" | "acceptedBy" | "owner"> {
  id: string;
  falsePositive: boolean;
  changes: AuditEvent["changes"];
}

async function open(
  { acceptedUntil, acceptedBy, owner, ...pair }: store.EndedAcceptance,
  { project, at }: { project: string; at: Date },
  tx: Transaction,
): Promise<Opened[]> {
  const versions = await store.selectVersions({ ...pair, project }, tx);
  const decisions = await store.selectDecisions({ project, pairs: [pair] }, tx);
  const opened = versions.flatMap((finding) => {
    if (store.holdingFor(decisions, finding.version)?.version !== pair.version) return [];
    const after = findingAfter(finding, { status: "open", falsePositive: finding.falsePositive });
    return after.status === finding.status ? [] : [{ ...after, id: finding.id }];
  });
  await store.updateDecided(opened, tx);
  const ended = { accepted_until: { from: acceptedUntil, to: null } };
  const changed = opened.map((one) => ({ ...one, changes: { ...one.changes, ...ended } }));
  const events = changed.map(({ id, changes }) => ({ finding: id, cause: "acceptance_ended" as const, changes }));
  await insertEvents(events, { actor: scannerName, at }, tx);
  return changed.map(({ id, falsePositive, changes }) => ({ id, falsePositive, changes, acceptedUntil, acceptedBy, owner }));
}

interface Place {
  project: { id: string; name: string };
  workspace: WorkspaceId;
  today: string;
}

/** One alert for what one transaction opened. Who accepted a risk, and who owns it, get the mail too. */
async function report(
  opened: readonly Opened[],
  { project, workspace, today }: Place,
  sources: { sql: Transaction; clock: Clock },
): Promise<void> {
  const kind = "accepted_risk_ended";
  // A match that a person called wrong is nothing to do.
  const byId = new Map(opened.filter(({ falsePositive }) => !falsePositive).map((one) => [one.id, one]));
  if (byId.size === 0 || !(await hasRule({ workspace, kind }, sources.sql))) return;
  const rows = await store.selectMostSevere({ ids: [...byId.keys()], limit: findingsNamedMax }, sources.sql);
  const named = rows.flatMap((row) => {
    const one = byId.get(row.id);
    return one ? [{ ...row, acceptedBy: one.acceptedBy, acceptedUntil: one.acceptedUntil }] : [];
  });
  const [first] = named;
  if (!first) return;
  const text = endedRisksText({ ...project, count: byId.size, first });
  const data = { project, findings_opened: byId.size, findings: named.map(viewOf) };
  const subject = byId.size === 1 ? "An accepted risk has ended" : "Accepted risks have ended";
  const mail = { subject, body: mailBody({ text, named, workspace, project: project.id }) };
  const owners = [...byId.values()].flatMap(({ acceptedBy, owner }) => (owner === null ? [acceptedBy] : [acceptedBy, owner]));
  // A risk that is accepted anew ends on a later day.
  const occurrence = `${today} ${first.id}`;
  await raiseAlert({ workspace, kind, subject: project.id, occurrence, text, data, mail, owners }, sources);
}

type Named = Awaited<ReturnType<typeof store.selectMostSevere>>[number] & Pick<Opened, "acceptedBy" | "acceptedUntil">;

function viewOf({ id, name, rank, component, version, acceptedBy, acceptedUntil }: Named) {
  const of = { component, component_version: version };
  return { id, cve_id: name, severity: severityOf(rank), ...of, accepted_by: acceptedBy, accepted_until: acceptedUntil };
}

interface MailFacts {
  text: string;
  named: readonly Named[];
  workspace: string;
  project: string;
}

function mailBody({ text, named, workspace, project }: MailFacts): string {
  const lines = named.map(({ name, rank, component, version, acceptedBy, acceptedUntil }) =>
    shortened(
      `- ${severityOf(rank) ?? "unknown"}: ${name} in ${component} ${version}, accepted by ${acceptedBy} until ${acceptedUntil}`,
      alertLineCharactersMax,
    ),
  );
  return `${text}.

The most severe:

${lines.join("\n")}

All that is open:

  finding list --workspace ${workspace} --project ${project} --status open
`;
}
