import { Type } from "@sinclair/typebox";
import { projectItemsMax } from "../limits/tools.ts";
import { idField } from "../operations/fields.ts";
import { operation, reading } from "../operations/operation.ts";
import { WholeProjectView } from "./schema.ts";
import { showProject } from "./show.ts";

export const getProject = operation({
  name: "get_project",
  title: "Get a project",
  description:
    `Shows a project with its components, live vulnerabilities and what cannot be matched, the first ${projectItemsMax} of each with ` +
    "how many there are, and its numbers. For all of its findings list them by its id.",
  annotations: reading,
  input: Type.Object({ project_id: idField("Id of the project") }),
  data: WholeProjectView,
  async handle({ input: { project_id: id }, caller: { workspace }, parts: { sql } }) {
    const project = await showProject({ workspace, id }, sql);
    return { data: project, message: `${project.name}: ${sentence(project)}` };
  },
});

function sentence({ components, vulnerabilities, scan_status: status }: WholeProjectView): string {
  const made = `${components.total} components, ${vulnerabilities.total} live vulnerabilities`;
  return status === "completed" ? made : `${made}; its scan is ${status === "never" ? "not asked for yet" : status}`;
}
