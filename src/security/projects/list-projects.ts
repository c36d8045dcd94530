import { Type } from "@sinclair/typebox";
import { listRowsMax } from "../../http/limits.ts";
import { projectRowsDefault } from "../limits.ts";
import { nameFilter } from "../api/operations/fields.ts";
import { operation, reading } from "../api/operations/operation.ts";
import { listData, pageAnswer, pageFields } from "../api/operations/page.ts";
import { ProjectView } from "./schema.ts";
import { countProjects, selectProjects } from "./store.ts";
import { viewProjects } from "./view.ts";

export const listProjects = operation({
  title: "List projects",
  description:
    "Lists projects of the active scope by name, with the state of their scans and how many live vulnerabilities they have. `name` is " +
    `the whole, exact name. A project that is not_comparable has no verdict: there are no advisories for it. A response has at most ${listRowsMax} rows, even when the limit is higher.`,
  annotations: reading,
  input: Type.Object({ name: nameFilter("Projects of exactly this name"), ...pageFields({ normal: projectRowsDefault }) }),
  data: listData("projects", ProjectView),
  async handle({ input: { name, limit: requested, offset }, caller: { workspace, scope }, parts }) {
    const { sql } = parts;
    const filter = { workspace, scope, name: name ?? null };
    const limit = Math.min(requested, listRowsMax);
    const total = await countProjects(filter, sql);
    const rows = await selectProjects({ ...filter, limit, offset }, sql);
    const hint = total === 0 && name !== undefined ? ". A name must match exactly" : "";
    return {
      data: { projects: await viewProjects(rows, parts), ...pageAnswer({ limit, offset }, { total, rows: rows.length }) },
      message: `${rows.length} of ${total} projects${hint}`,
    };
  },
});
