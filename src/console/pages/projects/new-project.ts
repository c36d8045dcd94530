/** A new project: from an SBOM, or from a repository at GitHub or GitLab. */
import { markup, type Html } from "../../../http/html.ts";
import { sbomUploadMs } from "../../../control-api/limits.ts";
import type { ImportedRepository } from "../../../security/repositories/read-repository.ts";
import { nameCharactersMax } from "../../../accounts/limits.ts";
import { repositoryAddressCharactersMax } from "../../../security/limits.ts";
import type { FormFields } from "../../form.ts";
import { form } from "../../look/forms/form.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { section } from "../security/section.ts";
import { sbomField, uploadBytesMax, uploadedWords, uploadSbom } from "./upload.ts";

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
    main: markup`${section("from-sbom", "From an SBOM", uploadForm(call))}${section("from-repository", "From a repository", repositoryForm(call))}`,
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
    ],
    state: formState(call, { action: "upload" }),
    submit: "Upload",
    cancelPath: call.link("/projects"),
    files: true,
  });
}

async function upload(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const product = typed.text("product");
  const stored = await uploadSbom(call, typed, { project: typed.text("project"), ...(product !== "" && { product }) });
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
    ],
    state: formState(call, { action: "repository" }),
    submit: "Import",
  });
}

async function importRepository(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const project = typed.text("project");
  const made = await call.control<ImportedRepository>("POST", "/repositories", {
    url: typed.text("url"),
    ...(project !== "" && { project }),
  });
  return { goTo: call.link(`/projects/${made.project_id}`), said: uploadedWords(made) };
}
