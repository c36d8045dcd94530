/**
 * GitHub's REST API as https://docs.github.com/en/rest describes it, for one repository: the repository, its trees and its
 * blobs. It is stricter than GitHub to show a client's mistakes: anything that the documentation does not name is a violation.
 */
import { blobsOf, shaOf, startStub, unknownQuery, type Asked, type Blob, type Content, type PlatformStub } from "./stub.ts";

interface Settings {
  name?: string;
  branch?: string;
  /** The token that grants access; null if it is public. */
  token?: string | null;
  /** Lists of the whole repository are truncated after this number of entries. */
  treeEntriesMax?: number;
  /** The repository has no commit. */
  empty?: boolean;
}

interface Entry {
  path: string;
  mode: string;
  type: "blob" | "tree";
  sha: string;
  size?: number;
}

export function startGithub(content: Content, settings: Settings = {}): PlatformStub {
  const { name = "acme/app", branch = "main", token = null, empty = false, treeEntriesMax = 100_000 } = settings;
  const blobs = blobsOf(content);
  return startStub("/api/v3", (asked) => {
    const fault = faultOf(asked);
    if (fault !== null) return fault;
    const given = asked.headers.get("authorization");
    if (given !== null && given !== `Bearer ${token}`) return message(401, "Bad credentials");
    const [owner, repository, ...rest] = asked.path.replace(/^\/repos\//, "").split("/");
    if (!asked.path.startsWith("/repos/")) return `there is no ${asked.path}`;
    if (`${owner}/${repository}`.toLowerCase() !== name.toLowerCase() || (token !== null && given === null))
      return message(404, "Not Found");
    if (rest.length === 0)
      return unknownQuery(asked.query, []) ?? Response.json({ full_name: name, default_branch: branch, private: token !== null });
    if (rest[0] !== "git" || rest.length !== 3) return `there is no ${asked.path}`;
    if (empty) return message(409, "Git Repository is empty.");
    if (rest[1] === "trees") return treeAnswer(asked, decodeURIComponent(rest[2] ?? ""), { blobs, branch, treeEntriesMax });
    return rest[1] === "blobs" ? blobAnswer(asked, rest[2] ?? "", blobs) : `there is no ${asked.path}`;
  });
}

/** Every request needs a User-Agent; GitHub advises the version and the media type, which the stub requires. */
function faultOf({ headers, path }: Asked): string | null {
  if (!headers.get("user-agent")) return "there is no User-Agent";
  if (headers.get("x-github-api-version") !== "2022-11-28") return "X-GitHub-Api-Version is no version of the API";
  const media = path.includes("/git/blobs/") ? "application/vnd.github.raw+json" : "application/vnd.github+json";
  return headers.get("accept") === media ? null : `Accept is not ${media} at ${path}`;
}

interface Repository {
  blobs: Blob[];
  branch: string;
  treeEntriesMax: number;
}

function treeAnswer({ query }: Asked, tree: string, { blobs, branch, treeEntriesMax }: Repository): Response | string {
  const unknown = unknownQuery(query, ["recursive"]);
  if (unknown !== undefined) return `trees take no ${unknown}`;
  const folder = [...foldersOf(blobs), ""].find((path) => (path === "" ? tree === branch : treeSha(path) === tree));
  if (folder === undefined) return message(404, "Not Found");
  const all = query.has("recursive") ? entriesBelow(blobs) : entriesIn(folder, blobs);
  const isTruncated = query.has("recursive") && all.length > treeEntriesMax;
  return Response.json({ sha: treeSha(folder), tree: isTruncated ? all.slice(0, treeEntriesMax) : all, truncated: isTruncated });
}

function foldersOf(blobs: Blob[]): string[] {
  const folders = blobs.flatMap(({ path }) =>
    path
      .split("/")
      .slice(0, -1)
      .map((_, index, parts) => parts.slice(0, index + 1).join("/")),
  );
  return [...new Set(folders)];
}

function treeSha(path: string): string {
  return shaOf(`tree ${path}`);
}

function entriesBelow(blobs: Blob[]): Entry[] {
  const folders = foldersOf(blobs).map((path): Entry => ({ path, mode: "040000", type: "tree", sha: treeSha(path) }));
  return [...folders, ...blobs.map(entryOf)].toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

function entriesIn(folder: string, blobs: Blob[]): Entry[] {
  const start = folder === "" ? "" : `${folder}/`;
  const within = entriesBelow(blobs).filter(({ path }) => path.startsWith(start) && !path.slice(start.length).includes("/"));
  return within.map((entry) => ({ ...entry, path: entry.path.slice(start.length) }));
}

function entryOf({ path, mode, sha, bytes }: Blob): Entry {
  return { path, mode, type: "blob", sha, size: bytes.length };
}

function blobAnswer({ query }: Asked, sha: string, blobs: Blob[]): Response | string {
  const unknown = unknownQuery(query, []);
  if (unknown !== undefined) return `blobs take no ${unknown}`;
  const blob = blobs.find((one) => one.sha === sha);
  return blob === undefined ? message(404, "Not Found") : new Response(Buffer.from(blob.bytes));
}

function message(status: number, text: string): Response {
  return Response.json({ message: text, documentation_url: "https://docs.github.com/rest" }, { status });
}
