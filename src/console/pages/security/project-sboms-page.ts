/**
 * The SBOMs of a project: those that are kept, what changed between two of them, and the upload of the next one. The newest two are compared
 * unless the address names others. The bytes of an SBOM are not kept, so there is no download: its SHA-256 says which file it was, and the
 * components tab has what was read from the current one.
 */
import { projectPartEndpoints } from "../../../control-api/endpoints/projects.ts";
import { sbomUploadMs } from "../../../control-api/limits.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { DifferenceView, KeptSbomView } from "../../../security/projects/inventory.ts";
import { address, form, type Choice } from "../../look/forms.ts";
import { badge, emptyState, section, table, time, userText } from "../../look/parts.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { FormFields, ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { pageRows, rowsInput, rowsLinks } from "../rows-query.ts";
import { mayDecide } from "./finding-list.ts";
import { goToolchainField, sbomField, uploadBytesMax, uploadedWords, uploadDocument } from "./new-project.ts";
import { projectContent, projectId, projectPath, projectTab } from "./project-frame.ts";

export const projectSbomsPage: Page = {
  ...projectTab,
  path: "/projects/:id/sboms",
  formBytesMax: uploadBytesMax,
  deadlineMs: sbomUploadMs,
  render,
  actions: { upload },
};

function render(call: PageCall): Promise<PageContent> {
  return projectContent(call, {
    path: "/sboms",
    body: async ({ provider, sbom }) => {
      const { data } = await call.control(projectPartEndpoints.sboms, { id: projectId(call) });
      const upload = !mayDecide(call)
        ? markup`<p class="hint">Auditors are read-only: they upload no SBOM.</p>`
        : provider === "sample"
          ? markup`<p class="hint">Sample data takes no other SBOM. <a href="${call.link("/projects/new")}">Add a project</a> for yours.</p>`
          : section("upload", "Upload a new SBOM", uploadForm(call));
      return markup`${history(data)}${warningList(sbom?.warnings ?? [])}${data.length < 2 ? null : section("difference", "What changed", await difference(data, call))}${upload}`;
    },
  });
}

function history(rows: readonly KeptSbomView[]): Html {
  return table<KeptSbomView>({
    caption: "SBOMs that are kept",
    columns: [
      { label: "Uploaded", kind: "time", cell: ({ uploaded_at: at }) => time(at) },
      { label: "File", kind: "text", cell: ({ filename, name }) => filename ?? name },
      { label: "Format", kind: "text", cell: ({ format, spec_version: version }) => `${format} ${version}` },
      { label: "Components", kind: "number", cell: ({ components }) => components.toLocaleString("en-US") },
      { label: "By", kind: "text", cell: ({ uploaded_by: by }) => by },
      { label: "SHA-256", kind: "text", cell: ({ sha256 }) => markup`<code title="${sha256}">${sha256.slice(0, 12)}…</code>` },
      { label: "State", kind: "badge", cell: ({ current }) => (current ? badge("good", "current") : badge("neutral", "former")) },
    ],
    rows,
    empty: emptyState("There is no SBOM yet. Upload one, and its components are scanned.", null),
  });
}

/** What the format of the current SBOM forbids, and package URLs that cannot be read. */
function warningList(warnings: readonly string[]): Html | null {
  if (warnings.length === 0) return null;
  const items = warnings.map((line) => markup`<li>${userText(line)}</li>`);
  return section("warnings", "Warnings about the current SBOM", markup`<ul>${items}</ul>`);
}

// What changed between two SBOMs.

/** @param kept at least two, newest first */
async function difference(kept: readonly KeptSbomView[], call: PageCall): Promise<Html> {
  const current = kept.find((sbom) => sbom.current) ?? kept[0];
  const former =
    kept.find((sbom) => sbom !== current && (current === undefined || sbom.uploaded_at <= current.uploaded_at)) ?? kept[1];
  const after = call.query.get("after") || (current?.id ?? "");
  const before = call.query.get("before") || (former?.id ?? "");
  const choices = kept.map(({ id, uploaded_at: at, filename, current: isCurrent }) => ({
    value: id,
    label: `${at.slice(0, 16).replace("T", " ")} UTC${filename === null ? "" : `, ${filename}`}${isCurrent ? " (current)" : ""}`,
  }));
  const compared = await call.control(projectPartEndpoints.difference, {
    id: projectId(call),
    before,
    after,
    ...rowsInput(call),
  });
  const { data, added, removed, changed } = compared;
  const words = markup`<p>${added.toLocaleString("en-US")} added, ${removed.toLocaleString("en-US")} removed, ${changed.toLocaleString("en-US")} with another version.</p>`;
  const links = data.length === 0 ? null : rowsLinks(call, { found: data.length, what: "Packages", filters: { before, after } });
  return markup`${chooser({ before, after }, { choices, call })}${words}${differenceTable(data.slice(0, pageRows), call)}${links}`;
}

/** Two choices in the address. */
function chooser(
  chosen: { before: string; after: string },
  { choices, call }: { choices: readonly Choice[]; call: PageCall },
): Html {
  const select = (name: "before" | "after", label: string): Html => {
    const options = choices.map(
      ({ value, label: words }) =>
        markup`<option value="${value}"${value === chosen[name] ? markup` selected` : null}>${words}</option>`,
    );
    return markup`<p><label for="filter-${name}">${label}</label><select id="filter-${name}" name="${name}" autocomplete="off">${options}</select></p>`;
  };
  return markup`<form class="filters" method="get" action="${call.path}">${select("before", "From")}${select("after", "To")}<p><button type="submit" class="quiet">Compare</button></p></form>`;
}

type Row = DifferenceView["data"][number];

function differenceTable(rows: readonly Row[], call: PageCall): Html {
  return table<Row>({
    caption: "What changed",
    columns: [
      {
        label: "Package",
        kind: "text",
        cell: ({ component, after }) =>
          after.length === 0
            ? component
            : markup`<a href="${address(projectPath(call, "/components"), { text: component })}">${userText(component)}</a>`,
      },
      { label: "Change", kind: "badge", cell: change },
      { label: "From", kind: "text", cell: ({ before }) => versionList(before) },
      { label: "To", kind: "text", cell: ({ after }) => versionList(after) },
    ],
    rows,
    empty: emptyState("Both have the same packages in the same versions.", null),
  });
}

function change({ before, after }: Row): Html {
  if (before.length === 0) return badge("warn", "added");
  return after.length === 0 ? badge("neutral", "removed") : badge("neutral", "other version");
}

function versionList(versions: readonly string[]): string | null {
  return versions.length === 0 ? null : versions.map((version) => (version === "" ? "no version" : version)).join(", ");
}

// The upload of the next SBOM.

function uploadForm(call: PageCall): Html {
  return form({
    id: "upload",
    action: call.path,
    hidden: hiddenFields(call, "upload"),
    fields: [sbomField, goToolchainField],
    state: formState(call, { action: "upload" }),
    submit: "Upload",
    files: true,
  });
}

async function upload(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const { id, name } = await call.control(projectPartEndpoints.state, { id: projectId(call) });
  const stored = await uploadDocument(call, typed, { project: id, name });
  return { goTo: projectPath(call), said: uploadedWords(stored) };
}
