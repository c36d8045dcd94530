/** Uploads to a project: what a VEX document decided and what it did not match, and the warnings about lock files. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sbomBytesMax } from "../../src/security/limits.ts";
import { ConsoleWorld, type Browser } from "../support/console.ts";
import { fixedIn, lodash, SecurityWorld } from "../support/security/security-world.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

describe.each(oneDatabase)("uploads to a project on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let security: SecurityWorld;
  let member: Browser;
  let auditor: Browser;
  let project: string;
  let strange: string;
  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    const workspace = await world.control.workspace("acme");
    security = new SecurityWorld({ sql: database.sql, clock: world.control.clock, workspace });
    [member, auditor] = [await world.signIn("member@acme"), await world.signIn("auditor@acme")];
    await security.publish(lodash("CVE-2026-0001"));
    project = await security.project("shop");
    strange = await security.project("strange", await world.control.workspace("other"));
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const at = (path: string) => `/console/w/acme${path}`;
  const pathOf = ({ headers }: { headers: Headers }) => (headers.get("location") ?? "").replace("/console/w/acme", "");
  const see = async (path: string) => (await world.get(at(path), member)).text;
  const vexOf = (...vulnerabilities: object[]) => JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.5", vulnerabilities });

  test("a VEX document decides about a project’s findings, and what it did not match is shown with the reason", async () => {
    const vexed = await security.project("vexed");
    await security.publish(lodash("CVE-2026-0099", {}, fixedIn("1.0.0")));
    await security.upload(vexed, ["pkg:npm/lodash@4.17.19"]);
    await security.scan();
    const path = at(`/projects/${vexed}/vex`);
    expect(await see(`/projects/${vexed}`)).toContain(`href="${path}"`);
    const analysis = { state: "not_affected", justification: "code_not_reachable", detail: "No template is compiled" };
    const document = vexOf(
      { id: "CVE-2026-0001", analysis, affects: [{ ref: "pkg:npm/lodash@4.17.19" }] },
      { id: "CVE-2026-0001", analysis, affects: [{ ref: "pkg:npm/<b>@1.0.0" }, { ref: "the part" }] },
      { id: "CVE-2026-0099", analysis },
      { id: "CVE-1999-0001", analysis },
    );
    const send = (file: string | null) => world.upload(path, { fields: { action: "import" }, file }, member);
    const { status, text } = await send(document);
    expect([status, text.includes("1 finding is updated."), text.includes("&#60;b&#62;"), text.includes("<b>")]).toEqual([
      200,
      true,
      true,
      false,
    ]);
    const why = [
      "The vulnerability is found, but not in this component.",
      "The reference names no component with a package URL, of the document or of the current SBOM.",
      "The current SBOM has no finding of this vulnerability.",
      "No advisory here has this id.",
    ];
    expect(why.filter((words) => text.includes(words))).toEqual(why);
    for (const as of ["vex", "openvex", "csaf"]) {
      const file = await world.get(at(`/projects/${vexed}?as=${as}`), member);
      expect([file.status, file.text.includes("CVE-2026-0001"), (await see(`/projects/${vexed}`)).includes(`as=${as}"`)]).toEqual(
        [200, true, true],
      );
    }
    expect(await security.findingLines(vexed)).toEqual(["CVE-2026-0001 4.17.19 not_affected"]);
    expect((await send(document)).text).toContain("0 findings are updated.");
    expect((await send(vexOf({ id: "CVE-2026-0001" }))).text).toContain("no statement with an analysis");
  });

  test("a VEX document that is wrong, too large or missing is refused beside its field, and an auditor imports none", async () => {
    const path = at(`/projects/${project}/vex`);
    const send = (file: string | null, browser = member) => world.upload(path, { fields: { action: "import" }, file }, browser);
    const large = vexOf({ id: "CVE-2026-0001", description: "x".repeat(2 * 1024 * 1024) });
    for (const [file, words] of [
      ["{}", "The document is JSON of an unknown format. Weir reads CycloneDX in JSON, OpenVEX 0.2.0, and CSAF"],
      [vexOf({ id: "CVE-2026-0001", analysis: { state: "fine" } }), "vulnerabilities[0].analysis.state must be one of"],
      [large, "The VEX document has more than 2 MiB: split it"],
      [null, "Choose a file"],
    ] as const) {
      const { status, text } = await send(file);
      const [, problem = ""] = /id="import-file-problem"><bdi>([^]*?)<\/bdi>/.exec(text) ?? [];
      expect([status, problem]).toEqual([400, expect.stringContaining(words)]);
    }
    const huge = await send("x".repeat(sbomBytesMax + 128 * 1024));
    expect([huge.status, huge.text.includes("The VEX document has more than 2 MiB: split it")]).toEqual([413, true]);
    expect(await see(`/projects/${project}`)).toContain("Import VEX");
    expect((await world.get(at(`/projects/${project}`), auditor)).text).not.toContain("Import VEX");
    expect((await send(vexOf(), auditor)).status).toBe(403);
    expect((await world.get(at(`/projects/${strange}/vex`), member)).status).toBe(404);
  });

  test("a go.mod counts Go's standard library if the box is ticked", async () => {
    const file = "module m\n\ngo 1.21\n\ntoolchain go1.22.1\n";
    const send = (path: string, fields: Record<string, string>) =>
      world.upload(at(path), { fields: { action: "upload", ...fields }, file, filename: "go.mod" }, member);
    const path = pathOf(await send("/projects/new", { project: "gopher", go_toolchain: "true" }));
    expect(await see(`${path}/components`)).toContain("stdlib");
    expect((await send(`${path}/sboms`, {})).status).toBe(303);
    expect(await see(`${path}/components`)).not.toContain("stdlib");
  });

  test("packages of a lock file that are not watched are told where it was uploaded, and on the project's page", async () => {
    const form = {
      fields: { action: "upload", project: "loose" },
      file: "a==1.0\n-r missing.txt\n",
      filename: "requirements.txt",
    };
    const path = pathOf(await world.upload(at("/projects/new"), form, member));
    await security.scan();
    expect(await see(path)).toContain(`href="${at(path)}/sboms#warnings-title"`);
    expect(await see(`${path}/sboms`)).toContain('id="warnings-title"');
    expect(await see(`${path}/sboms`)).toContain("-r missing.txt: is not watched: the file is not among those that are read");
  });
});
