/** `weir finding list` and `weir project list`: lists with what they say nothing of, and reports of findings. */
import type { ScanTotals } from "../../../src/control-api/endpoints/projects.ts";
import { agesFrom, agesText, findingTable, projectTable, projectsFrom } from "../print-findings.ts";
import { pageFrom, readReport, reportFindings } from "../report.ts";
import type { Notes } from "../sarif.ts";
import { UsageError } from "../value.ts";
import type { LocalAnswer, Sending } from "../verb.ts";

export async function listFindings(fields: Record<string, unknown>, { get }: Sending): Promise<LocalAnswer> {
  const { report, rest: query } = readReport(fields);
  const { format, output, location } = report;
  const scope = Object.fromEntries(Object.entries(query).filter(([name]) => ["workspace", "project", "product"].includes(name)));
  const blind = async () => blindProjects(await get("/scans", scope));
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
  const { data, total, next } = pageFrom(body);
  const more = next === null ? "" : `; --after ${next} lists the next ones`;
  const count = total === null ? `${data.length} shown` : `${data.length} of ${total}`;
  return { body, text: `${findingTable(data)}\n\n${count}${more}`, errors: data.length === 0 ? [...(await blind()).left] : [] };
}

/** What the list does not cover. The control API's document states that its answer has these fields. */
function blindProjects(answer: Record<string, unknown>): Notes {
  const { scanned, not_comparable: blind } = answer as unknown as ScanTotals;
  if (blind === 0) return { isComplete: true, left: [] };
  const subject = scanned === 1 ? "The scanned project" : `${blind} of ${scanned} scanned projects`;
  const words = `${subject} cannot be compared: there are no advisories for ${scanned === 1 ? "its" : "their"} components`;
  return { isComplete: blind < scanned, left: [words] };
}

export async function listProjects(query: Record<string, unknown>, { get }: Sending): Promise<LocalAnswer> {
  const body = await get("/projects", query);
  const ages = agesFrom(await get("/advisories", {}));
  const text = `${projectTable(projectsFrom(body))}\n\n${agesText(ages, Date.now())}`;
  return { body: { ...body, advisories: ages }, text, errors: [] };
}
