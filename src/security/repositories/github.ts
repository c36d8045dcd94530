/**
 * GitHub's REST API: the repository, its tree, and its blobs. A truncated tree is listed folder by folder, as GitHub's documentation
 * advises. Sources: https://docs.github.com/en/rest/repos/repos#get-a-repository, https://docs.github.com/en/rest/git/trees,
 * https://docs.github.com/en/rest/git/blobs, https://docs.github.com/en/rest/about-the-rest-api/api-versions
 */
import { DomainError } from "../../accounts/errors.ts";
import { lockFileBytesMax, repositoryListingsMax, repositoryTreeBytesMax } from "../limits.ts";
import { fieldOf, isObject, objectsOf, textOf, type JsonObject } from "../sboms/json.ts";
import type { HostApi } from "./host-api.ts";
import { fetchFiles, isLockFilePath, type ListedFile, type RepositoryHost } from "./hosted-files.ts";
import { isIgnored } from "./repository-files.ts";

export const github: RepositoryHost = {
  provider: "github",
  title: "GitHub",
  headers: (token) => ({
    accept: "application/vnd.github+json",
    "x-github-api-version": "2022-11-28",
    ...(token !== null && { authorization: `Bearer ${token}` }),
  }),
  async files(path, api) {
    const { value: repository } = await api.json({ path: `/repos/${path}`, bytesMax: repositoryTreeBytesMax });
    const name = isObject(repository) ? textOf(repository, "full_name") : null;
    const branch = isObject(repository) ? textOf(repository, "default_branch") : null;
    if (name === null || branch === null || !/^[\w.-]+\/[\w.-]+$/.test(name))
      throw api.unexpected("full_name and default_branch");
    const listed = await listTree({ name, branch }, api);
    const found = await fetchFiles(listed, async ({ sha }) => {
      const accept = { accept: "application/vnd.github.raw+json" };
      const answer = await api.get({ path: `/repos/${name}/git/blobs/${sha}`, bytesMax: lockFileBytesMax, headers: accept });
      return answer.body;
    });
    return { name, files: found.files, refused: found.refused };
  },
};

interface Tree {
  entries: JsonObject[];
  isTruncated: boolean;
}

async function listTree({ name, branch }: { name: string; branch: string }, api: HostApi): Promise<ListedFile[]> {
  const read = async (tree: string, query: string): Promise<Tree> => {
    const path = `/repos/${name}/git/trees/${encodeURIComponent(tree)}${query}`;
    const { value } = await api.json({ path, bytesMax: repositoryTreeBytesMax });
    if (!isObject(value) || !Array.isArray(fieldOf(value, "tree"))) throw api.unexpected("tree");
    return { entries: objectsOf(value, "tree"), isTruncated: fieldOf(value, "truncated") === true };
  };
  const whole = await read(branch, "?recursive=1");
  return whole.isTruncated ? listFolders(branch, read) : whole.entries.flatMap((entry) => listedFile(entry, ""));
}

/** @throws DomainError invalid_field if that takes too many calls, or a single folder is truncated */
async function listFolders(branch: string, read: (tree: string, query: string) => Promise<Tree>): Promise<ListedFile[]> {
  const listed: ListedFile[] = [];
  const folders = [{ tree: branch, within: "" }];
  let calls = 0;
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    if (++calls > repositoryListingsMax) {
      throw new DomainError(
        "invalid_field",
        "The repository is too large to be listed by GitHub's API: import a checkout with weir repository import PATH",
      );
    }
    const { entries, isTruncated } = await read(folder.tree, "");
    if (isTruncated)
      throw new DomainError(
        "invalid_field",
        `The folder "${folder.within}" has more files than GitHub lists: import a checkout with weir repository import PATH`,
      );
    for (const entry of entries) {
      listed.push(...listedFile(entry, folder.within));
      const path = folder.within + (textOf(entry, "path") ?? "");
      const tree = textOf(entry, "type") === "tree" ? textOf(entry, "sha") : null;
      if (tree !== null && !isIgnored(path)) folders.push({ tree, within: `${path}/` });
    }
  }
  return listed;
}

function listedFile(entry: JsonObject, within: string): ListedFile[] {
  const path = within + (textOf(entry, "path") ?? "");
  if (textOf(entry, "type") !== "blob" || !isLockFilePath(path)) return [];
  const size = fieldOf(entry, "size");
  return [
    { path, sha: textOf(entry, "sha") ?? "", mode: textOf(entry, "mode") ?? "", size: typeof size === "number" ? size : null },
  ];
}
