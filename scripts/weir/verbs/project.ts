import { agesFrom, agesText, projectTable, projectsFrom } from "../print-findings.ts";
import { rows, text, textOrNone } from "../value.ts";
import { ofWorkspace, withId, type LocalAnswer, type Sending, type Verb } from "../verb.ts";

export const projectVerbs: readonly Verb[] = [
  {
    noun: "project",
    verb: "list",
    summary: "List projects by name, with their open vulnerabilities by severity and the age of the advisories",
    reads: "/projects",
    flags: [
      ofWorkspace,
      { name: "product", field: "product", value: text, help: "only those of this product, by id or exact name" },
      { name: "text", field: "text", value: text, help: "only those with this text in their name" },
      { name: "limit", field: "limit", value: rows, help: "how many, 1 to 10000; default 10000" },
      { name: "offset", field: "offset", value: rows, help: "how many to skip" },
    ],
    send: listProjects,
  },
  {
    noun: "project",
    verb: "show",
    summary: "Show a project with the first of its components, vulnerabilities and unknown matches",
    method: "GET",
    path: "/projects/:id",
    flags: [withId("id or exact name of the project"), ofWorkspace],
  },
  {
    noun: "project",
    verb: "scans",
    summary: "Count the projects that were scanned, and those among them that no advisory could be compared with",
    method: "GET",
    path: "/scans",
    flags: [
      ofWorkspace,
      { name: "project", field: "project", value: text, help: "only this project, by id or exact name" },
      { name: "product", field: "product", value: text, help: "only those of this product, by id or exact name" },
    ],
  },
  {
    noun: "project",
    verb: "set",
    summary: "Move a project into another product, or into none",
    method: "PATCH",
    path: "/projects/:id",
    flags: [
      ofWorkspace,
      { name: "project", field: "id", value: text, required: true, help: "id or exact name of the project" },
      { name: "product", field: "product", value: textOrNone, required: true, help: "id or exact name of the product, or none" },
    ],
  },
];

async function listProjects(query: Record<string, unknown>, { get }: Sending): Promise<LocalAnswer> {
  const body = await get("/projects", query);
  const ages = agesFrom(await get("/advisories", {}));
  const text = `${projectTable(projectsFrom(body))}\n\n${agesText(ages, Date.now())}`;
  return { body: { ...body, advisories: ages }, text, errors: [] };
}

export const productVerbs: readonly Verb[] = [
  {
    noun: "product",
    verb: "create",
    summary: "Create a product, which groups projects",
    method: "POST",
    path: "/products",
    flags: [ofWorkspace, { name: "name", field: "name", value: text, required: true, help: "its display name" }],
  },
  {
    noun: "product",
    verb: "list",
    summary: "List products by name",
    method: "GET",
    path: "/products",
    flags: [
      ofWorkspace,
      { name: "limit", field: "limit", value: rows, help: "how many, 1 to 10000; default 10000" },
      { name: "offset", field: "offset", value: rows, help: "how many to skip" },
    ],
    columns: ["id", "name", "projects_count", "sboms_count", "posture"],
  },
  {
    noun: "product",
    verb: "show",
    summary: "Show a product",
    method: "GET",
    path: "/products/:id",
    flags: [withId("id or exact name of the product"), ofWorkspace],
  },
];
