import { describe, expect, test } from "bun:test";
import { systemClock, type Clock } from "../../../src/kernel/clock.ts";
import { lockFileBytesMax, repositoryCallMs, repositoryRetryMs, repositoryTriesMax } from "../../../src/security/limits.ts";
import { ManualClock } from "../../support/clock.ts";
import { until } from "../../support/until.ts";
import { filesFrom, refusalOf } from "./fetched.ts";
import { startGithub } from "./github-stub.ts";
import { startGitlab } from "./gitlab-stub.ts";
import type { Content } from "./stub.ts";

const content: Content = {
  "package-lock.json": "{}",
  "package.json": "{}",
  "README.md": "# app",
  "services/api/go.mod": "module api\n",
  "services/api/go.sum": "x v1.0.0 h1:0=\n",
  "services/api/vendor/x/go.mod": "module x\n",
  "web/node_modules/a/package-lock.json": "{}",
  "web/yarn.lock": { link: "../yarn.lock" },
  "web/composer.lock": "{}",
};

const platforms = [
  { platform: "github", title: "GitHub", start: startGithub },
  { platform: "gitlab", title: "GitLab", start: startGitlab },
] as const;

describe.each(platforms)("$title", ({ platform, title, start }) => {
  test("gives the lock files of the default branch, and nothing else", async () => {
    await using stub = start(content, { branch: "feature/x" });
    const { name, files, refused } = await filesFrom(platform, stub);
    expect(name).toBe(platform === "github" ? "acme/app" : "acme/tools/app");
    expect(files.map(({ path, bytes }) => `${path}: ${Buffer.from(bytes)}`).toSorted()).toEqual([
      "package-lock.json: {}",
      "services/api/go.mod: module api\n",
      "services/api/go.sum: x v1.0.0 h1:0=\n",
    ]);
    expect(refused.toSorted((one, other) => one.path.localeCompare(other.path))).toEqual([
      { path: "web/composer.lock", reason: "is of PHP, whose packages are not watched" },
      { path: "web/yarn.lock", reason: "is a link, and links are not followed" },
    ]);
    expect(stub.violations).toEqual([]);
  });

  test("accepts a token for private repositories, and reports an invalid one", async () => {
    await using stub = start(content, { token: "right" });
    expect((await filesFrom(platform, stub, { token: "right" })).files.length).toBe(3);
    expect(await refusalOf(filesFrom(platform, stub, { token: "wrong" }))).toBe(
      `${title} refused the token of the workspace's connection: replace it`,
    );
    expect(await refusalOf(filesFrom(platform, stub))).toMatch(
      /^There is no repository acme\/.* at .*, or it is private: then connect/,
    );
    expect(await refusalOf(filesFrom(platform, stub, { token: "right", path: "acme/other" }))).toBe(
      `There is no repository acme/other at ${title}, or the workspace's token may not see it`,
    );
    stub.next.push(Response.json({ message: "Resource not accessible by personal access token" }, { status: 403 }));
    expect(await refusalOf(filesFrom(platform, stub, { token: "right" }))).toContain(
      "does not let the workspace's token read acme/",
    );
    expect(stub.violations).toEqual([]);
  });

  test("is retried after a short rate limit; a longer one is reported", async () => {
    await using stub = start(content);
    const clock = new HurriedClock();
    stub.next.push(new Response("{}", { status: 429, headers: { "retry-after": "5" } }));
    expect((await filesFrom(platform, stub, { clock })).files.length).toBe(3);
    expect(clock.waits).toEqual([5_000]);

    const reset = Math.floor(clock.now() / 1000) + 1_200;
    const used = {
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(reset),
      "ratelimit-remaining": "0",
      "ratelimit-reset": String(reset),
    };
    stub.next.push(new Response("{}", { status: platform === "github" ? 403 : 429, headers: used }));
    const limited = await refusalOf(filesFrom(platform, stub, { clock }));
    expect(limited).toBe(
      `${title} accepts no more calls until ${new Date(reset * 1000).toISOString()}: try again then, or connect the workspace to ${title} with a token, which is allowed more`,
    );
    stub.next.push(
      Response.json({ message: "You have exceeded a secondary rate limit" }, { status: platform === "github" ? 403 : 429 }),
    );
    expect(await refusalOf(filesFrom(platform, stub, { clock, token: null }))).toContain("accepts no more calls until");
  });

  test("that fails is retried; a persistent failure is reported", async () => {
    await using stub = start(content);
    const clock = new HurriedClock();
    stub.next.push(new Response("", { status: 502 }));
    expect((await filesFrom(platform, stub, { clock })).files.length).toBe(3);
    expect(clock.waits).toEqual([repositoryRetryMs]);
    stub.next.push(...Array.from({ length: repositoryTriesMax }, () => new Response("", { status: 503 })));
    expect(await refusalOf(filesFrom(platform, stub, { clock }))).toBe(`${title} answers with status 503: try again later`);
  });

  test("is followed where a repository was renamed, and to no other host", async () => {
    await using stub = start(content);
    const moved = (to: string) => new Response("", { status: 301, headers: { location: to } });
    const here = `${stub.url}${platform === "github" ? "/repos/acme/app" : "/projects/acme%2Ftools%2Fapp"}`;
    stub.next.push(moved(here));
    expect((await filesFrom(platform, stub, { path: "acme/old" })).files.length).toBe(3);
    for (const to of ["http://169.254.169.254/latest/meta-data", "https://elsewhere.example.com/", "file:///etc/passwd", ""]) {
      stub.next.push(moved(to));
      expect(await refusalOf(filesFrom(platform, stub))).toBe(`${title} redirects to another host, which is not followed`);
    }
    stub.next.push(...Array.from({ length: 5 }, () => moved(here)));
    expect(await refusalOf(filesFrom(platform, stub))).toContain("redirects endlessly");
  });

  test("that gives nonsense is refused", async () => {
    await using stub = start(content);
    for (const body of ["<html>", "[]", "null", '{"full_name": 1}', '{"id": "x"}']) {
      stub.next.push(new Response(body));
      expect(await refusalOf(filesFrom(platform, stub))).toMatch(
        /^Git(?:Hub|Lab) gave an answer (?:that is not JSON|without .+)$/,
      );
    }
    stub.next.push(null, new Response("{}"));
    expect(await refusalOf(filesFrom(platform, stub))).toContain("gave an answer without");
  });

  test("that is silent is abandoned after a timeout", async () => {
    await using stub = start(content);
    const clock = new ManualClock();
    const silent = refusalOf(filesFrom(platform, { url: `${stub.url}/silent` }, { clock }));
    let ended = false;
    void silent.finally(() => (ended = true));
    await until(() => {
      if (!ended && clock.pending > 0) clock.advance(repositoryCallMs);
      return ended;
    });
    expect(await silent).toBe(`${title} does not answer: try again later`);
  });

  test("gets no request for a file that is too large", async () => {
    await using stub = start({ "package-lock.json": new Uint8Array(lockFileBytesMax + 1), "yarn.lock": "" });
    const { files, refused } = await filesFrom(platform, stub);
    expect(files.map(({ path }) => path)).toEqual(["yarn.lock"]);
    expect(refused).toEqual([{ path: "package-lock.json", reason: "is larger than 32 MiB" }]);
  });
});

/** Pauses between calls pass at once and are recorded; timeouts of calls take their time. */
class HurriedClock implements Clock {
  readonly waits: number[] = [];
  #reads = 0;
  now = () => systemClock.now() + this.#reads++;
  monotonic = () => systemClock.monotonic();
  endOfTurn = (callback: () => void) => systemClock.endOfTurn(callback);

  after(ms: number, callback: () => void): () => void {
    if (ms === repositoryCallMs) return systemClock.after(ms, callback);
    this.waits.push(ms);
    return systemClock.after(0, callback);
  }
}

test("a list that GitHub truncates is requested folder by folder", async () => {
  await using stub = startGithub(content, { treeEntriesMax: 2 });
  const { files } = await filesFrom("github", stub);
  expect(files.length).toBe(3);
  expect(stub.asked.filter((path) => path.includes("/git/trees/")).length).toBe(5);
  expect(stub.violations).toEqual([]);
});

test("a repository without a commit is reported as empty", async () => {
  await using hub = startGithub({}, { empty: true });
  expect(await refusalOf(filesFrom("github", hub))).toBe("The repository acme/app is empty at GitHub");
  await using lab = startGitlab({}, { branch: null });
  expect(await refusalOf(filesFrom("gitlab", lab))).toBe("The repository acme/tools/app is empty at GitLab");
});

describe.each(["keyset", "page"] as const)("the pages of GitLab by %s", (paging) => {
  test("are read to the last one", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 230 }, (_, index) => [`${String(index).padStart(3, "0")}/go.mod`, `module m${index}\n`]),
    );
    await using stub = startGitlab(many, { paging });
    const { files } = await filesFrom("gitlab", stub);
    expect(files.length).toBe(230);
    expect(stub.asked.filter((path) => path.includes("/tree?")).length).toBe(5);
    expect(stub.violations).toEqual([]);
  });
});
