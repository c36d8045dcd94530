import { Type } from "@sinclair/typebox";
import { projectFindingsMax, projectItemsMax } from "../limits.ts";
import { idField } from "../api/operations/fields.ts";
import { operation, reading } from "../api/operations/operation.ts";
import { blindness, gaps, withoutAdvisories } from "./coverage.ts";
import { ProjectDetailsView } from "./schema.ts";
import { showProject } from "./show.ts";

export const getProject = operation({
  title: "Get a project",
  description:
    `Shows a project with its components, live vulnerabilities and unknown matches, the first ${projectItemsMax} of each with the total, and ` +
    "its metrics. list_findings lists all of its findings by its id. No vulnerabilities mean something only as far as `coverage` in the " +
    "metrics goes: `not_comparable` says that there are no advisories for any of its components.",
  annotations: reading,
  input: Type.Object({ project_id: idField("Id of the project") }),
  data: ProjectDetailsView,
  async handle({ input: { project_id: id }, caller: { workspace }, parts }) {
    const project = await showProject({ workspace, id }, parts);
    return { data: project, message: `${project.name}: ${sentence(project)}` };
  },
});

function sentence(project: ProjectDetailsView): string {
  const { components, vulnerabilities, scan_status: status, scan_queue_position: before, findings_left_out: leftOut } = project;
  const made = `${components.total} components, ${vulnerabilities.total} live vulnerabilities`;
  const cut = leftOut === 0 ? "" : `; ${leftOut} findings are left out, since a project has at most ${projectFindingsMax}`;
  if (status === "completed") return [made + cut, ...gaps(project)].join("; ");
  const blind = blindness(project);
  if (blind !== null) {
    const remedy = withoutAdvisories(project).size === 0 ? "" : ". The operator imports them";
    return `${made}, which is no verdict: ${blind}${remedy}`;
  }
  const line = before === null || before === 0 ? "" : ` behind ${before} others`;
  return `${made}${cut}; its scan is ${status === "never" ? "not requested yet" : `${status}${line}`}`;
}
