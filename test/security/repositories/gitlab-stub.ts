/**
 * GitLab's REST API as https://docs.gitlab.com/api describes it, for one project: the project, the pages of its tree and raw
 * blobs. It is stricter than GitLab to show a client's mistakes: anything that the documentation does not name is a violation.
 */
import { blobsOf, shaOf, startStub, unknownQuery, type Asked, type Blob, type Content, type PlatformStub } from "./stub.ts";

interface Settings {
  name?: string;
  token?: string | null;
  /** null if there is no commit. */
  branch?: string | null;
  /** `page`: an older GitLab, which only has numbered pages. */
  paging?: "keyset" | "page";
}

const id = 4711;

interface Entry {
  id: string;
  name: string;
  type: "blob" | "tree";
  path: string;
  mode: string;
}

export function startGitlab(content: Content, settings: Settings = {}): PlatformStub {
  const { name = "acme/tools/app", token = null, branch = "main", paging = "keyset" } = settings;
  const blobs = blobsOf(content);
  const stub = startStub("/api/v4", (asked) => {
    if (!asked.headers.get("user-agent")) return "there is no User-Agent";
    const given = asked.headers.get("private-token");
    if (given !== null && given !== token) return message(401, "401 Unauthorized");
    if (token !== null && given === null) return message(404, "404 Project Not Found");
    const [, projects, project = "", repository, kind, sha, raw] = asked.path.split("/");
    if (projects !== "projects") return `there is no ${asked.path}`;
    if (repository === undefined) {
      const isThis = decodeURIComponent(project) === name && !project.includes("/");
      return (
        unknownQuery(asked.query, ["license", "statistics"]) ??
        (isThis
          ? Response.json({ id, path_with_namespace: name, default_branch: branch })
          : message(404, "404 Project Not Found"))
      );
    }
    if (project !== String(id) || repository !== "repository") return `there is no ${asked.path}`;
    if (kind === "tree" && sha === undefined) return treeAnswer(asked, entriesOf(blobs), { branch, paging, base: stub.url });
    return kind === "blobs" && raw === "raw" ? blobAnswer(asked, sha ?? "", blobs) : `there is no ${asked.path}`;
  });
  return stub;
}

function entriesOf(blobs: Blob[]): Entry[] {
  const folders = new Set(
    blobs.flatMap(({ path }) =>
      path
        .split("/")
        .slice(0, -1)
        .map((_, index, parts) => parts.slice(0, index + 1).join("/")),
    ),
  );
  const nameOf = (path: string) => path.split("/").at(-1) ?? "";
  const trees = [...folders].map((path): Entry => ({
    id: shaOf(`tree ${path}`),
    name: nameOf(path),
    type: "tree",
    path,
    mode: "040000",
  }));
  return [...trees, ...blobs.map(({ path, sha, mode }): Entry => ({ id: sha, name: nameOf(path), type: "blob", path, mode }))];
}

interface Paging {
  branch: string | null;
  paging: "keyset" | "page";
  base: string;
}

/** Pages have 1 to 100 entries; more is a violation. */
function treeAnswer({ path, query }: Asked, entries: Entry[], { branch, paging, base }: Paging): Response | string {
  const unknown = unknownQuery(query, ["path", "ref", "recursive", "per_page", "pagination", "page_token", "page"]);
  if (unknown !== undefined) return `the tree takes no ${unknown}`;
  const rows = Number(query.get("per_page") ?? 20);
  if (!Number.isInteger(rows) || rows < 1 || rows > 100) return `per_page is ${query.get("per_page")}`;
  if (query.get("recursive") !== "true" || query.get("ref") !== branch)
    return "the whole tree of the default branch was not asked for";
  const byKeyset = paging === "keyset" && query.get("pagination") === "keyset";
  const token = query.get("page_token");
  const start = byKeyset
    ? token === null
      ? 0
      : entries.findIndex((entry) => entry.id === token) + 1
    : (Number(query.get("page") ?? 1) - 1) * rows;
  const page = entries.slice(start, start + rows);
  const headers = new Headers();
  if (start + rows < entries.length) {
    const next = new URLSearchParams(query);
    if (byKeyset) next.set("page_token", page.at(-1)?.id ?? "");
    else next.set("page", String(start / rows + 2));
    // GitLab uses its public name, which may differ from the called host.
    headers.set(
      "link",
      `<${base.replace("127.0.0.1", "gitlab.example.com")}${path}?${next}>; rel="next", <${base}${path}>; rel="first"`,
    );
  }
  return Response.json(page, { headers });
}

function blobAnswer({ query }: Asked, sha: string, blobs: Blob[]): Response | string {
  const unknown = unknownQuery(query, []);
  if (unknown !== undefined) return `raw blobs take no ${unknown}`;
  const blob = blobs.find((one) => one.sha === sha);
  return blob === undefined
    ? message(404, "404 Blob Not Found")
    : new Response(Buffer.from(blob.bytes), { headers: { "content-type": "text/plain" } });
}

function message(status: number, text: string): Response {
  return Response.json({ message: text }, { status });
}
