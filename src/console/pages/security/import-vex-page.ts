/**
 * Takes over the decisions of a VEX document about a project's findings: the form, and what the document changed. Statements that matched
 * no finding are listed with the reason, since a typing error in an id looks like a project without the vulnerability. Importing a document
 * again changes nothing, so the answer is shown at once and may be loaded again.
 */
import { DomainError } from "../../../accounts/errors.ts";
import { vexEndpoints } from "../../../control-api/endpoints/findings.ts";
import { projectPartEndpoints } from "../../../control-api/endpoints/projects.ts";
import { vexImportMs } from "../../../control-api/limits.ts";
import { markup, type Html } from "../../../http/html.ts";
import { vexBytesMax, vexStatementsMax } from "../../../security/findings/limits.ts";
import type { ImportedVex } from "../../../security/findings/vex/import-vex.ts";
import { unmatchedWords } from "../../../security/findings/vex/match-statements.ts";
import { form, type Field } from "../../look/forms.ts";
import { emptyState, facts, notice, section, table, userText } from "../../look/parts.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, FormFields, Page, PageCall, PageContent } from "../../page.ts";
import { uploadBytesMax } from "./new-project.ts";
import { projectId, projectPath } from "./project-frame.ts";

const tooLarge = `The VEX document has more than ${vexBytesMax / 1024 / 1024} MiB: split it`;

export const importVexPage: Page = {
  of: "workspace",
  path: "/projects/:id/vex",
  navigation: null,
  roles: ["member", "admin", "super_admin"],
  // A document that is too large is refused beside its field.
  formBytesMax: uploadBytesMax,
  formTooLarge: tooLarge,
  deadlineMs: vexImportMs,
  render,
  actions: { import: importDocument },
};

async function render(call: PageCall): Promise<PageContent> {
  return {
    ...(await frame(call, "Import a VEX document")),
    lead: "What the document says about the findings of the current SBOM replaces earlier decisions about them.",
    main: form({
      id: "import",
      action: call.path,
      hidden: hiddenFields(call, "import"),
      fields: [documentField],
      state: formState(call, { action: "import" }),
      submit: "Import",
      cancelPath: projectPath(call),
      files: true,
    }),
  };
}

const documentField: Field = {
  kind: "file",
  name: "file",
  label: "VEX document",
  hint: `CycloneDX, OpenVEX 0.2.0, or CSAF 2.0 or 2.1 of the profile VEX, in JSON, of at most ${vexBytesMax / 1024 / 1024} MiB and ${vexStatementsMax.toLocaleString("en-US")} statements. Vulnerabilities without an analysis decide nothing.`,
  required: true,
  accept: ".json,.cdx,.vex,application/json",
};

/** @throws DomainError not_found */
async function frame(call: PageCall, title: string): Promise<Pick<PageContent, "title" | "trail">> {
  const { name } = await call.control(projectPartEndpoints.state, { id: projectId(call) });
  return {
    title,
    trail: [
      { path: call.link("/projects"), label: "Projects" },
      { path: projectPath(call), label: name },
    ],
  };
}

async function importDocument(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const imported = await importFile(call, typed);
  return { show: { ...(await frame(call, "The VEX document is imported")), main: outcome(imported, call) } };
}

/** @throws DomainError for a missing file or a wrong document, at its field, and as the control API does */
async function importFile(call: PageCall, typed: FormFields): Promise<ImportedVex> {
  const file = typed.file("file");
  if (file === null) throw refused("Choose a file");
  if (file.bytes.length > vexBytesMax) throw refused(tooLarge);
  try {
    return await call.control(vexEndpoints.import, { project: projectId(call) }, file.bytes);
  } catch (error) {
    if (error instanceof DomainError && error.code === "invalid_body") throw refused(error.message);
    throw error;
  }
}

function refused(message: string): DomainError {
  return new DomainError("invalid_field", message, { field: "file" });
}

// What the document changed.

function outcome(imported: ImportedVex, call: PageCall): Html {
  const { statements, updated, unchanged, unmatched } = imported;
  const count = (of: number): string => of.toLocaleString("en-US");
  const links = markup`<div class="list-bar"><a class="button quiet" href="${projectPath(call)}">Findings</a><a class="button quiet" href="${call.path}">Import another document</a></div>`;
  if (statements === 0)
    return markup`${notice({ tone: "warn", words: "The document has no statement with an analysis, so nothing was decided." })}${links}`;
  const words = `${count(updated)} ${updated === 1 ? "finding is" : "findings are"} updated.`;
  const counts = facts([
    ["Statements with a decision", count(statements)],
    ["Findings updated", count(updated)],
    ["Findings that had the decision already", count(unchanged)],
    ["Statements not matched", count(unmatched)],
  ]);
  return markup`${notice({ tone: updated === 0 ? "neutral" : "good", words })}${counts}${unmatched === 0 ? null : section("unmatched", "Not matched", unmatchedTable(imported))}${links}`;
}

type Unmatched = ImportedVex["unmatched_first"][number];

function asSentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}

function unmatchedTable({ unmatched, unmatched_first: rows }: ImportedVex): Html {
  const more = unmatched - rows.length;
  const rest = more === 0 ? null : markup`<p class="hint">And ${more.toLocaleString("en-US")} more.</p>`;
  return markup`${table<Unmatched>({
    caption: "Statements that matched no finding",
    columns: [
      { label: "Vulnerability", kind: "text", cell: ({ id }) => id },
      { label: "Component", kind: "text", cell: ({ ref }) => (ref === null ? "any" : userText(ref)) },
      { label: "Why", kind: "text", cell: ({ reason }) => asSentence(unmatchedWords[reason]) },
    ],
    rows,
    empty: emptyState("Every statement matched a finding.", null),
  })}${rest}`;
}
