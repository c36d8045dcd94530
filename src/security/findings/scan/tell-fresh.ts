/** Tells of the new findings of a scan, if the workspace has a rule for them. */
import { hasRule, raiseAlert } from "../../../accounts/alerts/raise-alert.ts";
import type { Transaction } from "../../../backing/backing.ts";
import { shortened } from "../../../kernel/shortened.ts";
import { freshFindingsToldMax } from "../limits.ts";
import { severityOf } from "../severity.ts";
import type { FreshFindings } from "../../scans/scan-progress.ts";
import { freshTotal } from "./fresh-findings.ts";
import { selectFresh, selectProjectName, type FreshFinding } from "./fresh-store.ts";
import type { Scan } from "./scan.ts";

/** Names of components come from documents of others. */
const mailLineCharactersMax = 300;

/** One alert for a scan, in the transaction that completes it. */
export async function tellFresh({ lease, workspace, at, progress, clock }: Scan, tx: Transaction): Promise<void> {
  const { fresh, asked } = progress;
  if (fresh === undefined || freshTotal(fresh) === 0) return;
  const { project } = lease;
  const sources = { sql: tx, clock };
  if (!(await hasRule({ workspace, kind: "new_findings" }, tx))) return;
  const name = await selectProjectName(project, tx);
  const worst = await selectFresh({ project, at, limit: freshFindingsToldMax }, tx);
  const text = `The project "${name}" (${project}) has ${countWords(fresh)}`;
  const data = { project: { id: project, name }, new_findings: { ...fresh }, findings: worst.map(viewFresh) };
  const mail = { subject: "A project has new findings", body: mailBody({ text, worst, workspace, project }) };
  await raiseAlert({ workspace, kind: "new_findings", subject: project, occurrence: asked, text, data, mail }, sources);
}

/** Such as `3 new findings: 1 critical, 2 high`. */
function countWords(fresh: FreshFindings): string {
  const total = freshTotal(fresh);
  const parts = Object.entries(fresh).filter(([, count]) => count > 0);
  const words = parts.map(([severity, count]) => `${count} ${severity === "unknown" ? "without a severity" : severity}`);
  return `${total} new ${total === 1 ? "finding" : "findings"}: ${words.join(", ")}`;
}

function viewFresh({ id, name, rank, component, version, fixVersion }: FreshFinding) {
  return { id, cve_id: name, severity: severityOf(rank), component, component_version: version, fix_version: fixVersion };
}

interface MailFacts {
  text: string;
  worst: readonly FreshFinding[];
  workspace: string;
  project: string;
}

function mailBody({ text, worst, workspace, project }: MailFacts): string {
  const lines = worst.map(({ name, rank, component, version, fixVersion }) => {
    const fix = fixVersion === null ? "no version with a fix is known" : `upgrade to ${fixVersion}`;
    return shortened(`- ${severityOf(rank) ?? "unknown"}: ${name} in ${component} ${version}, ${fix}`, mailLineCharactersMax);
  });
  return `${text}.

The most severe:

${lines.join("\n")}

All of them:

  finding list --workspace ${workspace} --project ${project} --status live
`;
}
