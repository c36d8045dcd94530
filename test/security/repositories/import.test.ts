/** From a repository to a project's document, through the public interfaces. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { packedFiles } from "../../../scripts/weir/packed-repository.ts";
import { publishVendors } from "../../connectors/connections/vendors.ts";
import { sbomReadHereBytesMax } from "../../../src/security/limits.ts";
import { databases } from "../../support/servers/databases.ts";
import { toolsStage, type ToolsStage } from "../../support/security/tools-api.ts";
import { startGithub } from "./github-stub.ts";
import { startGitlab } from "./gitlab-stub.ts";
import type { Content } from "./stub.ts";

const lock = (packages: Record<string, string>) =>
  JSON.stringify({
    lockfileVersion: 3,
    packages: {
      "": { dependencies: Object.fromEntries(Object.keys(packages).map((name) => [name, "*"])) },
      ...Object.fromEntries(Object.entries(packages).map(([name, version]) => [`node_modules/${name}`, { version }])),
    },
  });

const content: Content = {
  "web/package-lock.json": lock({ lodash: "4.17.20", "@scope/a": "1.0.0" }),
  "api/go.mod":
    "module m\ngo 1.21\nrequire golang.org/x/text v0.3.0\nrequire example.com/loose v1.0.0\nreplace example.com/loose => ../loose\n",
  "broken/Cargo.lock": "[[",
};

describe.each(databases)("importing a repository on $name", ({ open, runsAll }) => {
  let stage: ToolsStage;
  beforeAll(async () => {
    stage = await toolsStage(open);
  }, 60_000);
  afterAll(() => stage[Symbol.asyncDispose]());

  const components = async (sbom: unknown) => [
    ...(await stage.database.sql`
    SELECT component.name, component.version, component.relation, above.name AS via FROM sbom_components AS component
    LEFT JOIN sbom_components AS above ON above.sbom_id = component.sbom_id AND above.position = component.via
    WHERE component.sbom_id = ${String(sbom)} AND component.package_id IS NOT NULL ORDER BY component.name COLLATE "C"`),
  ];

  test("by its address stores its lock files as a project's document, and requests a scan", async () => {
    await using stub = startGithub(content);
    stage.control.platforms.hostUrls.github = stub.url;
    const waiting = stage.api.notified.count("scan-waits");
    const data = await stage.api.data("import_repository", { url: "https://github.com/Acme/App.git" });
    expect(data).toEqual({
      sbom_id: expect.stringMatching(/^sbom_/),
      project_id: expect.stringMatching(/^prj_/),
      format: "CycloneDX",
      spec_version: "1.6",
      components: 5,
      components_not_compared: 3,
      warnings: [
        expect.stringMatching(/^broken\/Cargo\.lock: cannot be read as TOML/),
        "api/go.mod: example.com/loose: is not watched: it is replaced by a folder",
      ],
      scan_status: "pending",
      project: "acme/app",
      provider: "github",
      repository: "https://github.com/acme/app",
      lock_files: [
        { path: "api/go.mod", ecosystem: "go", packages: 1, not_pinned: 1 },
        { path: "web/package-lock.json", ecosystem: "npm", packages: 2, not_pinned: 0 },
      ],
      not_read: [{ path: "broken/Cargo.lock", reason: expect.stringContaining("cannot be read as TOML") }],
      not_pinned: [{ path: "api/go.mod: example.com/loose", reason: "it is replaced by a folder" }],
    });
    expect<unknown>(await components(data["sbom_id"])).toEqual([
      { name: "@scope/a", version: "1.0.0", relation: "direct", via: "web/package-lock.json" },
      { name: "golang.org/x/text", version: "v0.3.0", relation: "direct", via: "api/go.mod" },
      { name: "lodash", version: "4.17.20", relation: "direct", via: "web/package-lock.json" },
    ]);
    expect(stage.api.notified.count("scan-waits") - waiting).toBe(1);
    expect(stub.violations).toEqual([]);

    const project = await stage.api.data("get_project", { project_id: String(data["project_id"]) });
    expect(project["sbom"]).toMatchObject({ warnings: data["warnings"] });
    expect(project["components"]).toMatchObject({
      total: 5,
      items: expect.arrayContaining([
        expect.objectContaining({
          name: "lodash",
          relation: "direct",
          scope: "required",
          path: ["acme/app", "web/package-lock.json", "lodash"],
        }),
        expect.objectContaining({
          name: "golang.org/x/text",
          scope: null,
          path: ["acme/app", "api/go.mod", "golang.org/x/text"],
        }),
      ]),
    });

    const again = await stage.api.data("import_repository", {
      url: "git@github.com:acme/app.git",
      project: String(data["project_id"]),
    });
    expect(again).toMatchObject({ sbom_id: data["sbom_id"], project_id: data["project_id"] });
    expect(stage.api.notified.count("scan-waits") - waiting).toBe(1);
  });

  test("counts Go's standard library only if that is asked for", async () => {
    await using stub = startGithub(content);
    stage.control.platforms.hostUrls.github = stub.url;
    const url = "https://github.com/acme/app";
    const without = await stage.api.data("import_repository", { url, project: "gopher", go_toolchain: false });
    const data = await stage.api.data("import_repository", { url, project: "gopher", go_toolchain: true });
    expect([without["components"], data["components"]]).toEqual([5, 6]);
    expect<unknown>(await components(data["sbom_id"])).toContainEqual({
      name: "stdlib",
      version: "1.21",
      relation: "direct",
      via: "api/go.mod",
    });
  });

  if (!runsAll) return;

  test("from GitLab, from nested groups, into a project that is named", async () => {
    await using stub = startGitlab(content);
    stage.control.platforms.hostUrls.gitlab = stub.url;
    const url = "https://gitlab.com/acme/tools/app/-/tree/main/web?ref_type=heads";
    const data = await stage.api.data("import_repository", { url, project: "the app" });
    expect(data).toMatchObject({
      project: "the app",
      provider: "gitlab",
      repository: "https://gitlab.com/acme/tools/app",
      components: 5,
    });
    expect(stub.violations).toEqual([]);
  });

  test.each([
    [{ url: "acme/app" }, '"acme/app" is not the address of a repository'],
    [{ url: "https://github.com/acme" }, "names no repository"],
    [{ url: "https://github.com/../.." }, "names no repository"],
    [{ url: "https://user:secret@github.com/acme/app" }, "The address has a user or a password in it"],
    [{ url: "https://169.254.169.254/a/b" }, "No platform is known at"],
    [{ url: "http://github.com/acme/app" }, "No platform is known at"],
    [{ url: "file:///etc/passwd" }, "is not the address of a repository"],
    [{ url: "https://github.com.evil.example/acme/app" }, "No platform is known at"],
  ])("refuses %j with a sentence", async (input, sentence) => {
    const refused = await stage.api.refusal("import_repository", input);
    expect(refused).toContain(sentence);
    expect(refused).not.toContain("secret");
  });

  test("stores nothing where there is nothing to store, nor for another's project", async () => {
    await using stub = startGithub({ "README.md": "#" }, { name: "acme/empty" });
    stage.control.platforms.hostUrls.github = stub.url;
    expect(await stage.api.refusal("import_repository", { url: "https://github.com/acme/empty" })).toContain(
      "Cannot find a supported lock file in acme/empty",
    );
    await using broken = startGithub({ "Cargo.lock": "[[" }, { name: "acme/broken" });
    stage.control.platforms.hostUrls.github = broken.url;
    expect(await stage.api.refusal("import_repository", { url: "https://github.com/acme/broken" })).toContain(
      "No lock file of acme/broken can be read: Cargo.lock cannot be read as TOML",
    );
    await using good = startGithub(content);
    stage.control.platforms.hostUrls.github = good.url;
    const project = `prj_${"a".repeat(26)}`;
    expect(await stage.api.refusal("import_repository", { url: "https://github.com/acme/app", project })).toBe(
      `There is no project with the id "${project}"`,
    );
    const [row] = await stage.database
      .sql`SELECT count(*)::integer AS count FROM projects WHERE name IN ('acme/empty', 'acme/broken')`;
    expect(row?.["count"]).toBe(0);
  });

  const upload = (body: Uint8Array, query: Record<string, string>) =>
    stage.control.call("POST", `/repositories/archive?${new URLSearchParams(query)}`, { body });

  test("from an archive or a checkout gives the same document", async () => {
    const archive = await packedFiles(
      Object.entries(content).map(([path, text]) => ({ path, bytes: Buffer.from(String(text)) })),
    );
    const one = await upload(archive, { workspace: "w", name: "shop" });
    expect(one).toMatchObject({ status: 201, body: { project: "shop", provider: "archive", repository: null, components: 5 } });
    const repository = "https://git.example.com/acme/shop";
    const other = await upload(archive, { workspace: "w", name: "shop", provider: "git", repository });
    expect(other.body).toMatchObject({ provider: "git", repository, sbom_id: (one.body as { sbom_id: string }).sbom_id });
    expect(await upload(Buffer.from("no archive"), { workspace: "w", name: "shop" })).toMatchObject({
      status: 400,
      body: { error: { message: "The file is not a supported archive: zip, tar and tar.gz are" } },
    });
    expect(await upload(archive, { workspace: "w" })).toMatchObject({ status: 400, body: { error: { field: "name" } } });
    expect(await upload(archive, { workspace: "none", name: "shop" })).toMatchObject({ status: 404 });
  });

  test("of many packages is read in a subprocess, with the same report", async () => {
    const many = lock(
      Object.fromEntries(Array.from({ length: 4_000 }, (_, index) => [`package-with-a-name-${index}`, `1.${index}.0`])),
    );
    const files = {
      "package-lock.json": many,
      "go.mod": "module m\nrequire example.com/x v1.0.0\nrequire x",
      "yarn.lock": "nonsense",
    };
    const body = await packedFiles(Object.entries(files).map(([path, text]) => ({ path, bytes: Buffer.from(text) })));
    expect(body.length).toBeGreaterThan(sbomReadHereBytesMax);
    const { status, body: told } = await upload(body, { workspace: "w", name: "large" });
    expect({ status, told }).toMatchObject({
      status: 201,
      told: {
        components: 4_001,
        lock_files: [{ path: "package-lock.json", ecosystem: "npm", packages: 4_000, not_pinned: 0 }],
        not_read: [{ path: "go.mod" }, { path: "yarn.lock" }],
      },
    });
    const withGo = await packedFiles([
      { path: "package-lock.json", bytes: Buffer.from(many) },
      { path: "go.mod", bytes: Buffer.from("module m\ntoolchain go1.22.1\n") },
    ]);
    expect(await upload(withGo, { workspace: "w", name: "large", go_toolchain: "true" })).toMatchObject({
      body: { lock_files: [{ path: "go.mod", packages: 1 }, { path: "package-lock.json" }] },
    });
    const nothing = await packedFiles([{ path: "yarn.lock", bytes: Buffer.alloc(sbomReadHereBytesMax + 1, "nonsense\n") }]);
    expect(await upload(nothing, { workspace: "w", name: "nothing" })).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining("No lock file of nothing can be read: yarn.lock line 1:") } },
    });
  });

  test("uses the token of the workspace's own connection, and no other workspace's", async () => {
    await using stub = startGithub(content, { name: "acme/private", token: "github_pat_right" });
    stage.control.platforms.hostUrls.github = stub.url;
    stage.control.connectors.published = await publishVendors(stage.database.sql);
    await stage.control.workspace("other");
    const connect = (workspace: string, token: string) =>
      stage.control.expect("POST", "/connections", {
        body: { workspace, connector: "github", credentials: { personal_access_token: token } },
      });
    const url = "https://github.com/acme/private";
    await connect("other", "github_pat_right");
    expect(await stage.api.refusal("import_repository", { url })).toContain(
      "or it is private: then connect the workspace with a token",
    );
    await connect("w", "github_pat_wrong");
    expect(await stage.api.refusal("import_repository", { url })).toBe(
      "GitHub refused the token of the workspace's connection: replace it",
    );
    stage.control.clock.advance(1_000);
    await connect("w", "github_pat_right");
    expect(await stage.api.data("import_repository", { url })).toMatchObject({ project: "acme/private" });
    expect(stage.api.logged.join() + stage.control.logged.join()).not.toContain("github_pat");
  });
});
