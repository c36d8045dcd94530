/**
 * A new project: from an SBOM, from a lock file, or from a repository at GitHub or GitLab. A project's page uses the same upload. Problems of the
 * document are shown at the file's field.
 */
import { DomainError } from "../../../accounts/errors.ts";
import { nameCharactersMax } from "../../../accounts/limits.ts";
import { repositoryEndpoints, sbomEndpoints } from "../../../control-api/endpoints/uploads.ts";
import { sbomUploadMs } from "../../../control-api/limits.ts";
import { markup, type Html } from "../../../http/html.ts";
import { tarNameBytesMax, tarOfFile } from "../../../security/archives/tar.ts";
import { lockFormatOf, unsupportedReason } from "../../../security/lockfiles/formats.ts";
import { sbomBytesMax, sbomFilenameCharactersMax, repositoryAddressCharactersMax } from "../../../security/limits.ts";
import type { StoredSbom } from "../../../security/projects/schema.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { FormFields, PageCall, ActionResult, Page, PageContent } from "../../page.ts";
import { type Field, form } from "../../look/forms.ts";
import { section } from "../../look/parts.ts";

/** The largest SBOM, with room for the form's other fields and headings. */
export const uploadBytesMax = sbomBytesMax + 64 * 1024;

export const newProjectPage: Page = {
  of: "workspace",
  path: "/projects/new",
  navigation: null,
  roles: ["member", "admin", "super_admin"],
  formBytesMax: uploadBytesMax,
  deadlineMs: sbomUploadMs,
  render,
  actions: { upload, repository: importRepository },
};

async function render(call: PageCall): Promise<PageContent> {
  return {
    title: "Add a project",
    lead: "A project begins with an SBOM, or with the lock files of a repository.",
    trail: [{ path: call.link("/projects"), label: "Projects" }],
    main: markup`${section("from-sbom", "From an SBOM or a lock file", uploadForm(call))}${section("from-repository", "From a repository", repositoryForm(call))}`,
  };
}

function uploadForm(call: PageCall): Html {
  return form({
    id: "upload",
    action: call.path,
    hidden: hiddenFields(call, "upload"),
    fields: [
      {
        kind: "text",
        name: "project",
        label: "Name",
        hint: "If there is no project of this name, it is created.",
        required: true,
        charactersMax: nameCharactersMax,
      },
      {
        kind: "text",
        name: "product",
        label: "Product",
        hint: "A product groups projects. If there is none of this name, it is created.",
        charactersMax: nameCharactersMax,
      },
      sbomField,
      goToolchainField,
    ],
    state: formState(call, { action: "upload" }),
    submit: "Upload",
    cancelPath: call.link("/projects"),
    files: true,
  });
}

async function upload(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const product = typed.text("product");
  const project = typed.text("project");
  const stored = await uploadDocument(call, typed, { project, name: project, ...(product !== "" && { product }) });
  return { goTo: call.link(`/projects/${stored.project_id}`), said: uploadedWords(stored) };
}

function repositoryForm(call: PageCall): Html {
  return form({
    id: "repository",
    action: call.path,
    hidden: hiddenFields(call, "repository"),
    fields: [
      {
        kind: "url",
        name: "url",
        label: "Address",
        hint: "A repository at GitHub or GitLab, such as https://github.com/owner/name. Its lock files are read. A private one needs a connection to its platform.",
        required: true,
        charactersMax: repositoryAddressCharactersMax,
      },
      {
        kind: "text",
        name: "project",
        label: "Name",
        hint: "If empty: the repository’s name.",
        charactersMax: nameCharactersMax,
      },
      goToolchainField,
    ],
    state: formState(call, { action: "repository" }),
    submit: "Import",
  });
}

async function importRepository(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const project = typed.text("project");
  const made = await call.control(repositoryEndpoints.import, {
    url: typed.text("url"),
    ...(project !== "" && { project }),
    go_toolchain: typed.text("go_toolchain") === "true",
  });
  return { goTo: call.link(`/projects/${made.project_id}`), said: uploadedWords(made) };
}

// The upload of an SBOM or a lock file, also on a project's page

export const sbomField: Field = {
  kind: "file",
  name: "file",
  label: "SBOM or lock file",
  hint: `CycloneDX 1.2 to 1.7, or SPDX 2.2, 2.3 or 3.0, of at most ${sbomBytesMax / 1024 / 1024} MiB; or a lock file by its usual name, such as package-lock.json, yarn.lock, poetry.lock, go.mod or Cargo.lock.`,
  required: true,
  accept:
    ".json,.xml,.spdx,.tag,.cdx,.lock,.yaml,.toml,.txt,.mod,.config,.lockfile,.locked,application/json,application/xml,text/plain",
};

export const goToolchainField: Field = {
  kind: "check",
  name: "go_toolchain",
  label: "Count Go’s standard library",
  hint: "For go.mod: in the version of its line toolchain, else go. A newer Go may build it.",
};

interface Named {
  /** Id or exact name. */
  project: string;
  product?: string;
  /** What the SBOM of a lock file calls its root. */
  name: string;
}

/** A file is a lock file by its name, as in a repository. @throws DomainError for a missing file, and as the control API does */
export async function uploadDocument(call: PageCall, typed: FormFields, { name, ...named }: Named): Promise<StoredSbom> {
  const file = typed.file("file");
  if (file === null) throw new DomainError("invalid_field", "Choose a file", { field: "file" });
  const filename = file.name.replaceAll(/\p{Cc}/gu, "").slice(-sbomFilenameCharactersMax);
  const unsupported = unsupportedReason(filename);
  if (unsupported !== null) throw new DomainError("invalid_field", `${filename} ${unsupported}`, { field: "file" });
  try {
    if (lockFormatOf(filename) === null)
      return await call.control(sbomEndpoints.upload, { ...named, ...(filename !== "" && { filename }) }, file.bytes);
    const goToolchain = typed.text("go_toolchain") === "true" ? "true" : "false";
    const own = filename.slice(Math.max(filename.lastIndexOf("/"), filename.lastIndexOf("\\")) + 1);
    // Only names of requirements can be longer.
    const archive = tarOfFile(own.length <= tarNameBytesMax ? own : "requirements.txt", file.bytes);
    return await call.control(repositoryEndpoints.upload, { ...named, name, go_toolchain: goToolchain }, archive);
  } catch (error) {
    // What is wrong with the document, and not with another field.
    if (
      error instanceof DomainError &&
      (error.code === "invalid_body" || (error.code === "invalid_field" && error.field === null))
    )
      throw new DomainError("invalid_field", error.message, { field: "file" });
    throw error;
  }
}

export function uploadedWords({ components, scan_status: scan, warnings: { length: warned } }: StoredSbom): string {
  const waits =
    scan === "completed" || scan === "not_comparable"
      ? "It is the same as before, so nothing is scanned again."
      : "Its scan has begun.";
  return `The SBOM with ${components.toLocaleString("en-US")} ${components === 1 ? "component" : "components"} is stored. ${waits}${warned === 0 ? "" : " Its warnings are on the tab SBOMs."}`;
}
