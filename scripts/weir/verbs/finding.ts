/**
 * `weir finding list` and `weir project list`: lists that also say what they do not cover, and reports of findings.
 */
import type { ScanTotals } from "../../../src/control-api/endpoints/projects.ts";
import type { EcosystemAge } from "../../../src/security/advisories/ecosystem-ages.ts";
import type { FindingPage } from "../../../src/security/findings/lists/search-findings.ts";
import type { Notes } from "../../../src/security/findings/details/sarif.ts";
import type { ProjectView } from "../../../src/security/projects/schema.ts";
import { answerAs } from "../call.ts";
import { agesText, findingTable, projectTable } from "../print-findings.ts";
import { readReport, reportFindings } from "../report.ts";
import { UsageError } from "../value.ts";
import type { LocalAnswer, Sending } from "../verb.ts";

export async function listFindings(fields: Record<string, unknown>, { get }: Sending): Promise<LocalAnswer> {
  const { report, rest: query } = readReport(fields);
  const { format, output, location } = report;
  const scope = Object.fromEntries(Object.entries(query).filter(([name]) => ["workspace", "project", "product"].includes(name)));
  const blind = async () => blindProjects(answerAs<ScanTotals>(await get("/scans", scope)));
  if (format !== null) {
    if ("limit" in query || "after" in query) throw new UsageError("--format has the whole list: leave out --limit and --after");
    // SARIF is a list of what is wrong now.
    const filters = format === "sarif" ? { status: "live", ...query } : query;
    const locationOf = ({ project }: { project: string }) => location ?? project;
    const { left, isComplete } = await blind();
    const notes = { isComplete, left };
    const answer = await reportFindings({ format, output, locationOf, query: filters, notes }, get);
    return { ...answer, errors: [...answer.errors, ...left] };
  }
  const body = await get("/findings", query);
  const { data, total, next } = answerAs<FindingPage>(body);
  const more = next === null ? "" : `; --after ${next} lists the next ones`;
  const count = total === null ? `${data.length} shown` : `${data.length} of ${total}`;
  return { body, text: `${findingTable(data)}\n\n${count}${more}`, errors: data.length === 0 ? [...(await blind()).left] : [] };
}

/** What the list does not cover. */
function blindProjects({ scanned, not_comparable: blind }: ScanTotals): Notes {
  if (blind === 0) return { isComplete: true, left: [] };
  const subject = scanned === 1 ? "The scanned project" : `${blind} of ${scanned} scanned projects`;
  const words = `${subject} cannot be compared: there are no advisories for ${scanned === 1 ? "its" : "their"} components`;
  return { isComplete: blind < scanned, left: [words] };
}

export async function listProjects(query: Record<string, unknown>, { get }: Sending): Promise<LocalAnswer> {
  const body = await get("/projects", query);
  const { data: ages } = answerAs<{ data: EcosystemAge[] }>(await get("/advisories", {}));
  const text = `${projectTable(answerAs<{ data: ProjectView[] }>(body).data)}\n\n${agesText(ages, Date.now())}`;
  return { body: { ...body, advisories: ages }, text, errors: [] };
}
