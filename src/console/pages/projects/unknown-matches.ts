/** Components whose versions cannot be compared with advisories: they may be affected. */
import { markup, type Html } from "../../../http/html.ts";
import type { ProjectDetailsView } from "../../../security/projects/schema.ts";
import { table } from "../../look/table.ts";

type Unknown = ProjectDetailsView["unknown_matches"]["items"][number];

const rowsShown = 20;

export function unknownMatches({ unknown_matches: { items, total } }: ProjectDetailsView): Html {
  const rows = items.slice(0, rowsShown);
  return markup`<p>These versions cannot be compared with what an advisory says, so whether they are affected is not known.</p>
    ${table<Unknown>({
      caption: "What cannot be compared",
      columns: [
        { label: "Component", kind: "text", cell: ({ component, version }) => `${component} ${version}`.trim() },
        { label: "Vulnerability", kind: "text", cell: ({ cve_id: id }) => id },
        { label: "Why not", kind: "text", cell: ({ reason }) => reason },
      ],
      rows,
      empty: markup``,
    })}${total > rows.length ? markup`<p class="under">${(total - rows.length).toLocaleString("en-US")} more are not shown.</p>` : null}`;
}
