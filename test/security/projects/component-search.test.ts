/** `list_components`: where a component is, in the current SBOMs of all projects of a workspace. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { oneDatabase } from "../../support/servers/databases.ts";
import { twoWorkspaces, type TwoWorkspaces } from "../../support/security/two-workspaces.ts";
import { rowsOf } from "../../support/security/shop.ts";

const root = { purl: "pkg:generic/log4j-app@1.0", relation: "root" } as const;
const core = "pkg:maven/org.apache.logging.log4j/log4j-core";

describe.each(oneDatabase)("the search for a component on $name", ({ open }) => {
  let stage: TwoWorkspaces;
  let alpha: string;
  let beta: string;
  let sbomOfAlpha: string;
  let uploadedAt: string;

  beforeAll(async () => {
    stage = await twoWorkspaces(open);
    const { world } = stage;
    await world.publish({
      id: "GHSA-jfh8-c2jp-5v3q",
      affected: [{ ecosystem: "Maven", name: "org.apache.logging.log4j:log4j-core", versions: ["2.14.1"] }],
    });
    alpha = await world.project("alpha");
    beta = await world.project("beta");
    await world.upload(alpha, [root, "pkg:npm/left-pad@1.3.0"]);
    world.clock.advance(1_000);
    uploadedAt = new Date(world.clock.now()).toISOString();
    sbomOfAlpha = await world.upload(alpha, [
      root,
      { purl: `${core}@2.14.1`, relation: "transitive" },
      { purl: `${core}@2.17.1`, relation: "direct" },
      { purl: `${core}@2.17.1`, relation: "transitive" },
      "pkg:maven/org.apache.logging.log4j/log4j-api@2.14.1",
      "pkg:pypi/zope.interface@5.0",
      "pkg:golang/github.com/BurntSushi/toml/v2@v2.1.0",
      "pkg:deb/debian/openssl@3.0.1?arch=amd64",
    ]);
    await world.upload(beta, [
      root,
      `${core}@2.17.1`,
      "pkg:npm/%40babel/core@7.0.0",
      "pkg:npm/log4js@6.0.0",
      "pkg:npm/100%25_sure@1.0.0",
    ]);
    await world.scan();
  }, 60_000);
  afterAll(() => stage[Symbol.asyncDispose]());

  const search = async (name: string, more: object = {}, key?: string) =>
    rowsOf(await stage.api.data("list_components", { name, ...more }, key === undefined ? {} : { key }), "components");
  const found = async (name: string, more: object = {}) =>
    (await search(name, more)).map(({ project, component, version }) => `${project} ${component} ${version}`);

  const log4jCore = "org.apache.logging.log4j:log4j-core";
  const everywhere = [`alpha ${log4jCore} 2.14.1`, `alpha ${log4jCore} 2.17.1`, `beta ${log4jCore} 2.17.1`];

  test("a name shows each project that has it, with versions, dependency, ecosystem, open findings and the SBOM's age", async () => {
    const [first, second, third] = await search("log4j-core");
    expect(first).toEqual({
      project_id: alpha,
      project: "alpha",
      component: log4jCore,
      version: "2.14.1",
      ecosystem: "maven",
      purl: `${core}@2.14.1`,
      relation: "transitive",
      open_findings: 1,
      sbom_id: sbomOfAlpha,
      sbom_uploaded_at: uploadedAt,
    });
    expect(second).toMatchObject({ project: "alpha", version: "2.17.1", relation: "direct", open_findings: 0 });
    expect(third).toMatchObject({ project: "beta", version: "2.17.1" });
  });

  test("a name finds what it begins, whole or as the last part, in any case and with any separators", async () => {
    expect(await found("LOG4J_CORE")).toEqual(everywhere);
    expect(await found("org.apache.logging.log4j/log4j-core")).toEqual(everywhere);
    expect(await found("log4j")).toEqual([
      `alpha org.apache.logging.log4j:log4j-api 2.14.1`,
      ...everywhere.slice(0, 2),
      "beta log4js 6.0.0",
      ...everywhere.slice(2),
    ]);
    expect(await found("org.apache.logging")).toHaveLength(4);
    expect(await found("Zope_Interface")).toEqual(["alpha zope.interface 5.0"]);
    for (const group of ["@babel", "@babel/"]) expect(await found(group)).toEqual(["beta @babel/core 7.0.0"]);
    expect(await found("burntsushi/toml")).toHaveLength(1);
    expect(await found("4j")).toEqual([]);
  });

  test("an exact name finds no longer one, with or without its group", async () => {
    expect(await found("log4j", { exact: true })).toEqual([]);
    expect(await found("log4j-core", { exact: true })).toEqual(everywhere);
    expect(await found(log4jCore, { exact: true })).toEqual(everywhere);
    expect(await found("github.com/burntsushi/toml", { exact: true })).toHaveLength(1);
  });

  test("a package URL finds its package in every spelling of its ecosystem, and with a version only this version", async () => {
    expect(await found(core)).toEqual(everywhere);
    expect(await found(`${core}@2.14.1`)).toEqual([everywhere[0] ?? ""]);
    expect(await found("pkg:pypi/Zope-Interface@5.0.0")).toHaveLength(1);
    expect(await found("pkg:golang/github.com/burntsushi/toml/v2@2.1.0")).toHaveLength(1);
    expect(await found("PKG:golang/github.com/BURNTSUSHI/toml/v2")).toHaveLength(1);
    expect(await found("pkg:deb/debian/openssl")).toEqual(["alpha openssl 3.0.1"]);
    expect(await found("pkg:deb/ubuntu/openssl")).toEqual([]);
    expect(await found("pkg:deb/debian/openssl@3.0.2")).toEqual([]);
    expect(await found("pkg:npm/log4j-core")).toEqual([]);
  });

  test("only current SBOMs are searched", async () => {
    expect(await found("left-pad")).toEqual([]);
    expect(await found("pkg:npm/left-pad")).toEqual([]);
  });

  test("another workspace sees nothing", async () => {
    for (const name of ["log4j", core]) expect(await search(name, {}, stage.theirs)).toEqual([]);
  });

  test("the active scope of a key limits it to a project", async () => {
    const key = await stage.key();
    await stage.api.data("set_active_scope", { kind: "project", id: beta }, { key });
    expect((await search("log4j-core", {}, key)).map(({ project }) => project)).toEqual(["beta"]);
  });

  test("pages have each row once", async () => {
    const pages = await Promise.all([0, 1, 2, 3, 4, 5].map((offset) => found("log4j", { limit: 1, offset })));
    expect(pages.flat()).toEqual(await found("log4j"));
    expect(await stage.api.data("list_components", { name: "log4j", limit: 2 })).toMatchObject({
      total: 5,
      projects: 2,
      cut: false,
      has_more: true,
    });
  });

  test("signs of patterns are no patterns, and what is no name is refused", async () => {
    for (const name of ["%", "log4j%", "*", "(", "\\", "'; --", "é", "x".repeat(1_024), "𝔘"])
      expect(await found(name)).toEqual([]);
    expect(await found("100%_sure")).toHaveLength(1);
    for (const name of ["", " ", "/", "-._", "x".repeat(1_025), "a\u0000b", "pkg:", "pkg:npm/", "pkg:maven/%zz/a", 7, null]) {
      expect(await stage.api.refusal("list_components", { name })).toMatch(
        /^(?:The field "name" is|A name has|The package URL cannot)/,
      );
    }
  });
});
