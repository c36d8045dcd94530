/**
 * GitLab's REST API: the project, the pages of its tree, and its blobs.
 * Sources: https://docs.gitlab.com/api/projects/#get-a-single-project, https://docs.gitlab.com/api/repositories/#list-repository-tree,
 * https://docs.gitlab.com/api/repositories/#raw-blob-content, https://docs.gitlab.com/api/rest/#keyset-based-pagination
 */
import { DomainError } from "../../accounts/errors.ts";
import { nextLink, type SafeResponse } from "../../http/safe-fetch.ts";
import { lockFileBytesMax, repositoryListingsMax, repositoryTreeBytesMax } from "../limits.ts";
import { fieldOf, isObject, textOf, type JsonObject } from "../sboms/json.ts";
import type { HostApi } from "./host-api.ts";
import { fetchFiles, isLockFilePath, type ListedFile, type RepositoryHost } from "./hosted-files.ts";

/** GitLab's maximum. */
const rowsOfPage = "100";

export const gitlab: RepositoryHost = {
  provider: "gitlab",
  title: "GitLab",
  headers: (token) => ({ accept: "application/json", ...(token !== null && { "private-token": token }) }),
  async files(path, api) {
    const { value: project } = await api.json({
      path: `/projects/${encodeURIComponent(path)}`,
      bytesMax: repositoryTreeBytesMax,
    });
    const id = isObject(project) ? fieldOf(project, "id") : null;
    const name = isObject(project) ? textOf(project, "path_with_namespace") : null;
    if (!isObject(project) || !Number.isSafeInteger(id) || name === null) throw api.unexpected("id and path_with_namespace");
    const branch = textOf(project, "default_branch");
    if (branch === null) throw new DomainError("invalid_field", `The repository ${name} is empty at GitLab`);
    const at = `/projects/${String(id)}/repository`;
    const found = await fetchFiles(await listTree({ at, branch }, api), async ({ sha }) => {
      const answer = await api.get({ path: `${at}/blobs/${sha}/raw`, bytesMax: lockFileBytesMax, headers: { accept: "*/*" } });
      return answer.body;
    });
    return { name, files: found.files, refused: found.refused };
  },
};

async function listTree({ at, branch }: { at: string; branch: string }, api: HostApi): Promise<ListedFile[]> {
  const listed: ListedFile[] = [];
  const query = new URLSearchParams({ ref: branch, recursive: "true", per_page: rowsOfPage, pagination: "keyset" });
  for (let calls = 0; ;) {
    if (++calls > repositoryListingsMax) {
      throw new DomainError(
        "invalid_field",
        "The repository is too large to be listed by GitLab's API: import a checkout with weir repository import PATH",
      );
    }
    const { value, answer } = await api.json({ path: `${at}/tree?${query}`, bytesMax: repositoryTreeBytesMax });
    if (!Array.isArray(value)) throw api.unexpected("a list of files");
    listed.push(...value.flatMap((entry) => (isObject(entry) ? listedFile(entry) : [])));
    const next = nextPage(answer);
    if (next === null) return listed;
    for (const [key, text] of next) query.set(key, text);
  }
}

function listedFile(entry: JsonObject): ListedFile[] {
  const path = textOf(entry, "path") ?? "";
  if (textOf(entry, "type") !== "blob" || !isLockFilePath(path)) return [];
  return [{ path, sha: textOf(entry, "id") ?? "", mode: textOf(entry, "mode") ?? "", size: null }];
}

/**
 * The query of the link to the next page: by keyset, or by page number on an older GitLab. The rest of the link is ignored: it contains
 * GitLab's host name, which may differ from the one called.
 */
function nextPage({ headers }: SafeResponse): [string, string][] | null {
  const url = URL.parse(nextLink(headers) ?? "");
  const parameters = ["page_token", "page"].flatMap((key): [string, string][] => {
    const text = url?.searchParams.get(key);
    return text ? [[key, text]] : [];
  });
  return parameters.length === 0 ? null : parameters;
}
