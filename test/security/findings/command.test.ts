/** Findings on the command line: lists, reports, and the gate of a build. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { openCommandLine, type CommandLine } from "../../support/command-line.ts";
import { fixedIn, lodash, SecurityWorld } from "../../support/security/security-world.ts";
import { shop } from "../../support/security/shop.ts";
import { Weir } from "../../support/weir.ts";

let line: CommandLine;
let world: SecurityWorld;
let bom: string;
beforeAll(async () => {
  line = await openCommandLine();
  const { database, control } = line;
  const [{ id = "" } = {}] = await database.sql<{ id: string }[]>`SELECT id FROM workspaces`;
  world = new SecurityWorld({ sql: database.sql, clock: control.clock, workspace: id });
  await world.publish(lodash("CVE-2024-0001"), lodash("CVE-2024-0002"), lodash("CVE-2024-0003"));
  await database.sql`
    UPDATE vulnerabilities SET severity = 'high', score = 7.5, rank = 3075, description = E'Bad \\x1b[31m' WHERE name <> 'CVE-2024-0003'`;
  bom = join(line.folder, "bom.json");
  await writeFile(bom, JSON.stringify(shop));
}, 60_000);
afterAll(() => line[Symbol.asyncDispose]());

const inW = ["--workspace", "w"];

/** Runs a command that waits for a scan, while a scanner runs. */
async function whileScanned(...words: string[]) {
  return world.scanWhile(line.weir.run(...words));
}

test("an upload with --fail-on waits for the scan, shows the findings, and exits with 3 for those of that severity or above", async () => {
  const gate = ["sbom", "upload", bom, ...inW, "--project", "shop"];
  const failed = await whileScanned(...gate, "--fail-on", "medium");
  expect([failed.code, failed.error]).toEqual([3, expect.stringContaining("2 open vulnerabilities of severity medium or above")]);
  expect(failed.error).toContain(
    "1 open vulnerability without a severity is not counted by --fail-on medium; --fail-on any counts all\n",
  );
  expect(failed.out).toMatch(/^critical +high +medium +low +unknown +total\n0 +2 +0 +0 +1 +3\n/m);
  expect(failed.out).toMatch(/high +7\.5 +CVE-2024-000[12] +lodash 4\.17\.20 +4\.17\.21 +open +shop$/m);
  const passed = await line.weir.run(...gate, "--fail-on", "critical", "--json");
  expect([passed.code, JSON.parse(passed.out)]).toMatchObject([
    0,
    {
      scan_status: "completed",
      vulnerability_counts: { high: 2, total: 3 },
      not_counted: { without_severity: 1 },
      failed: false,
    },
  ]);
  const any = await line.weir.run(...gate, "--fail-on", "any", "--json");
  expect([any.code, JSON.parse(any.out), any.error]).toMatchObject([
    3,
    { not_counted: { without_severity: 0 } },
    expect.not.stringContaining("not counted"),
  ]);
});

test("a gate says how many components it could not compare and why, on the terminal and in SARIF", async () => {
  const path = join(line.folder, "broken.json");
  const purls = ["pkg:npm/left-pad@1.3.0", "pkg:npm/lodash@4.17.20?a=1&a=2"];
  const components = purls.map((purl) => ({ type: "library", name: purl, version: null, purl }));
  await writeFile(path, JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.5", components }));
  const upload = ["sbom", "upload", path, ...inW, "--project", "broken"];
  const gated = await whileScanned(...upload, "--fail-on", "high");
  expect([gated.code, gated.error]).toEqual([
    0,
    expect.stringMatching(
      /Warning: components\[0\]\.version: is null.*\nWarning: component .* has a package URL that cannot be read[^]*1 of 2 components cannot be compared: 1 component whose package URL cannot be read/,
    ),
  ]);
  const report = await line.weir.run(...upload, "--format", "sarif");
  expect(report.out).toContain("1 of 2 components cannot be compared: 1 component whose package URL cannot be read");
  const plain = await line.weir.run(...upload);
  expect(plain.out).toMatch(/components_not_compared +1\n/);
  expect(plain.error).toContain("Warning: ");
});

test("without advisories for any of the components a gate fails with an exit code of its own, and its SARIF says why", async () => {
  const path = join(line.folder, "python.json");
  const component = { type: "library", name: "jinja2", version: "2.11.2", purl: "pkg:pypi/jinja2@2.11.2" };
  await writeFile(path, JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.5", components: [component] }));
  const upload = ["sbom", "upload", path, ...inW, "--project", "python"];
  const warning =
    "Its only component cannot be compared with advisories: there are no advisories for PyPI (1 component)\n" +
    "advisories sync --ecosystems PyPI gets them\n";
  const gated = await whileScanned(...upload, "--fail-on", "critical");
  expect([gated.code, gated.error]).toEqual([4, expect.stringContaining(warning)]);
  expect(gated.out).not.toContain("is scanned");
  const json = await line.weir.run(...upload, "--fail-on", "critical", "--json");
  expect([json.code, JSON.parse(json.out)]).toMatchObject([4, { scan_status: "not_comparable", failed: true }]);
  const awaited = await line.weir.run(...upload, "--wait");
  expect([awaited.code, awaited.error]).toEqual([0, warning]);
  const output = join(line.folder, "blind.sarif");
  expect((await line.weir.run(...upload, "--fail-on", "any", "--format", "sarif", "--output", output)).code).toBe(4);
  const [invocation] = JSON.parse(await readFile(output, "utf8")).runs[0].invocations;
  expect(invocation).toMatchObject({ executionSuccessful: false, toolExecutionNotifications: [{ level: "error" }, {}] });
  const listed = await line.weir.run("finding", "list", ...inW, "--project", "python", "--format", "sarif");
  expect(JSON.parse(listed.out)).toMatchObject({
    runs: [{ invocations: [{ executionSuccessful: false, toolExecutionNotifications: [{ level: "error" }] }] }],
  });
  expect((await line.weir.run("finding", "list", ...inW, "--project", "python")).error).toContain(
    "The scanned project cannot be compared: there are no advisories for its components",
  );
  expect((await line.weir.run("finding", "list", ...inW, "--project", "shop", "--severity", "low")).error).toBe("");
});

test("with a part of what the first synchronization of its ecosystem sends a gate fails too, and says that it is not complete", async () => {
  const path = join(line.folder, "ruby.json");
  const component = { type: "library", name: "rack", version: "2.0.0", purl: "pkg:gem/rack@2.0.0" };
  await writeFile(path, JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.5", components: [component] }));
  const { sql } = line.database;
  await sql`INSERT INTO advisory_ecosystems (ecosystem, sync_began_at, imported_at) VALUES ('RubyGems', now(), now())`;
  const upload = ["sbom", "upload", path, ...inW, "--project", "ruby"];
  const { code, error } = await whileScanned(...upload, "--fail-on", "critical");
  expect(code).toBe(4);
  expect(error).toContain(
    "the first synchronization of advisories for RubyGems is not complete, and the next one continues it (1 component)\n" +
      "advisories sync --ecosystems RubyGems gets them\n",
  );
  await sql`UPDATE advisory_ecosystems SET sync_began_at = NULL WHERE ecosystem = 'RubyGems'`;
  expect((await line.weir.run(...upload, "--fail-on", "critical")).code).toBe(0);
  await sql`DELETE FROM advisory_ecosystems WHERE ecosystem = 'RubyGems'`;
});

test("an SBOM without components is not clean for a gate: a generator that found no lock file writes one", async () => {
  const path = join(line.folder, "empty.json");
  await writeFile(path, JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.5", components: [] }));
  const { code, error } = await whileScanned("sbom", "upload", path, ...inW, "--project", "empty", "--fail-on", "critical");
  expect([code, error]).toEqual([
    4,
    expect.stringContaining("The SBOM has no components, so there is nothing to compare with advisories"),
  ]);
});

test("a gate passes what was compared, and says how much was left out and why", async () => {
  const path = join(line.folder, "mixed.json");
  const components = ["npm/lodash@4.17.21", "npm/lodash", "pypi/jinja2@2.11.2", "deb/debian/curl@7.0"].map((purl) => ({
    type: "library",
    name: purl,
    purl: `pkg:${purl}`,
    "bom-ref": purl,
  }));
  await writeFile(path, JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.5", components }));
  const output = join(line.folder, "mixed.sarif");
  const gate = ["sbom", "upload", path, ...inW, "--project", "mixed", "--fail-on", "critical"];
  const { code, error } = await whileScanned(...gate, "--format", "sarif", "--output", output);
  const left =
    "3 of 4 components cannot be compared: 1 component of npm without a readable version; there are no advisories for PyPI (1 component); " +
    "1 component of an unknown ecosystem";
  expect([code, error]).toEqual([0, expect.stringContaining(left)]);
  const [invocation] = JSON.parse(await readFile(output, "utf8")).runs[0].invocations;
  expect(invocation).toMatchObject({
    executionSuccessful: true,
    toolExecutionNotifications: expect.arrayContaining([{ level: "warning", message: { text: left } }]),
  });
});

test("a report of an upload is the SARIF of its live findings, at the uploaded file", async () => {
  const output = join(line.folder, "weir.sarif");
  const gate = ["sbom", "upload", bom, ...inW, "--project", "shop", "--fail-on", "high"];
  const { code, error } = await line.weir.run(...gate, "--format", "sarif", "--output", output);
  expect([code, error]).toEqual([3, expect.stringContaining("2 open vulnerabilities of severity high or above")]);
  const sarif = JSON.parse(await readFile(output, "utf8"));
  expect(sarif.runs[0].results).toHaveLength(3);
  expect(decodeURIComponent(sarif.runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri)).toBe(bom);
  expect(error).toContain(`SARIF has "${bom}", which is not in the working folder`);
  expect(sarif.runs[0].invocations[0].toolExecutionNotifications).toContainEqual({
    level: "warning",
    message: { text: "1 open vulnerability without a severity is not counted by --fail-on high; --fail-on any counts all" },
  });
  const missing = await line.weir.run(...gate, "--format", "sarif", "--output", join(line.folder, "none", "x"));
  expect([missing.code, missing.error]).toEqual([1, expect.stringContaining("Cannot write")]);
});

test("finding list is a table for people, and its CSV has every finding of the filters", async () => {
  const { out } = await line.weir.run("finding", "list", ...inW, "--limit", "2");
  expect(out).toMatch(/^ID +SEVERITY +SCORE +VULNERABILITY +COMPONENT +FIX +STATUS +PROJECT\n/);
  expect(out).toMatch(/\n\n2 of 3; --after fnd_\S+ lists the next ones\n$/);
  const csv = await line.weir.run("finding", "list", ...inW, "--severity", "high", "--format", "csv");
  const [head, first, ...others] = csv.out.trimEnd().split("\r\n");
  expect(head).toStartWith("id,cve_id,severity,cvss_score,severity_basis,status,false_positive,component,");
  expect(first).toMatch(
    /^fnd_\w+,CVE-2024-000[12],high,7\.5,,open,false,lodash,4\.17\.20,npm,pkg:npm\/lodash@4\.17\.20,4\.17\.21,shop,/,
  );
  expect(others).toHaveLength(1);
  for (const [words, reason] of [
    [["--format", "csv", "--limit", "1"], "--format has the whole list"],
    [["--output", "x"], "--output needs --format"],
    [["--format", "csv", "--location", "x"], "--location needs --format sarif"],
  ] as const) {
    expect(await line.weir.run("finding", "list", ...inW, ...words)).toMatchObject({
      code: 2,
      error: expect.stringContaining(reason),
    });
  }
});

test("finding show and vulnerability show are lines for people, without the control characters of an advisory or its turns of direction", async () => {
  const { data } = await line.weir.json("finding", "list", ...inW, "--limit", "1");
  const { id, cve_id: cve } = Object(data)[0];
  const finding = await line.weir.run("finding", "show", "--id", id, ...inW);
  expect(finding.out).toMatch(/^upgrade +4\.17\.21 \(/m);
  expect(finding.out).toMatch(/^path +shop > express@4\.0\.0 > lodash@4\.17\.20$/m);
  await line.database.sql`UPDATE advisories SET record = record || '{"details": "Bad \\u001b[31m \\u202ereversed"}'`;
  const { out } = await line.weir.run("vulnerability", "show", "--id", cve, ...inW);
  expect(out).toMatch(/^vulnerability +CVE-2024-000[12]\n/);
  expect(out).toContain("Bad  [31m");
  for (const mark of ["\u001b", "\u202e"]) expect(out).not.toContain(mark);
  expect(out).toContain("\\u202ereversed");
  expect(out).toContain(id);
});

test("project list has the counts by severity and the age of the advisories", async () => {
  const { out } = await line.weir.run("project", "list", ...inW);
  expect(out).toMatch(/^ID +NAME +CRITICAL +HIGH +MEDIUM +LOW +UNKNOWN +SCAN +LAST_SCANNED_AT\n/);
  expect(out).toMatch(/ shop +0 +2 +0 +0 +1 +completed +\d{4}-/);
  expect(out).toMatch(/\nAge of advisories: npm \d+ days; none for PyPI, Maven, Go, crates\.io, RubyGems, NuGet\n$/);
  const { advisories } = await line.weir.json("project", "list", ...inW);
  expect(Object(advisories)[0]).toMatchObject({ ecosystem: "npm", synced_at: null, newest_record: expect.stringMatching(/Z$/) });
});

test("with a rule, each scan with new findings is one alert with their counts, for webhooks and by mail", async () => {
  const { control, database } = line;
  await control.expect("POST", "/alert-rules", { body: { workspace: "w", kind: "new_findings", webhooks: false } });
  const told = async () => (await control.list("/alerts?workspace=w")).map(({ kind, text }) => [kind, text]);
  await whileScanned("sbom", "upload", bom, ...inW, "--project", "other", "--wait");
  expect(await told()).toEqual([
    ["new_findings", expect.stringMatching(/^The project "other" \(prj_\w+\) has 3 new findings: 2 high, 1 without a severity$/)],
  ]);
  const [alert] = await database.sql<{ body: string }[]>`SELECT body FROM alerts`;
  const { data } = JSON.parse(alert?.body ?? "");
  expect(data.new_findings).toEqual({ critical: 0, high: 2, medium: 0, low: 0, unknown: 1 });
  expect(data.findings[0]).toMatchObject({ severity: "high", component: "lodash", fix_version: "4.17.21" });
  const [mail] = await database.sql`SELECT subject, body FROM mails`;
  expect([mail?.["subject"], mail?.["body"]]).toEqual([
    "A project has new findings",
    expect.stringMatching(/^- high: CVE-2024-000[12] in lodash 4\.17\.20, upgrade to 4\.17\.21$/m),
  ]);
  await database.sql`UPDATE projects SET scan_status = 'pending', scan_asked = scan_asked + 1, scan_due_at = now() - interval '1 year'`;
  await world.scan();
  expect(await told()).toHaveLength(1);
});

test("an exported VEX document imports without a change, and decisions of a document become those of findings", async () => {
  const path = join(line.folder, "vex.json");
  const [exporting, importing] = [
    ["vex", "export", ...inW, "--project", "shop", "--output", path],
    ["vex", "import", path, ...inW, "--project", "shop"],
  ] as const;
  expect((await line.weir.run(...exporting)).code).toBe(0);
  const document = JSON.parse(await readFile(path, "utf8"));
  expect(document.vulnerabilities[0]).toMatchObject({
    id: expect.stringMatching(/^CVE-2024-000[12]$/),
    ratings: [{ severity: "high", score: 7.5 }],
    analysis: { state: "in_triage" },
    affects: [{ ref: "pkg:npm/lodash@4.17.20" }],
  });
  expect(await line.weir.json(...importing)).toMatchObject({ statements: 3, updated: 0, unchanged: 3, unmatched: 0 });

  const analysis = { state: "not_affected", justification: "code_not_reachable", detail: "No template is compiled" };
  const statement = {
    id: "cve-2024-0001",
    analysis,
    affects: [{ ref: "urn:cdx:f08a6ccd-4dce-4759-bd84-c626675d60a7/1#lodash" }],
  };
  const components = [{ type: "library", "bom-ref": "lodash", name: "lodash", purl: "pkg:npm/lodash" }];
  const unknown = { id: "CVE-2024-0009", analysis, affects: [{ ref: "pkg:npm/left-pad@1.0.0" }] };
  const given = { bomFormat: "CycloneDX", specVersion: "1.5", components, vulnerabilities: [statement, unknown] };
  await writeFile(path, JSON.stringify(given));
  const first = await line.weir.run(...importing);
  expect([first.code, first.error]).toEqual([
    0,
    "Not matched: CVE-2024-0009 in pkg:npm/left-pad@1.0.0: no advisory here has this id\n",
  ]);
  expect(first.out).toMatch(/^updated +1$/m);
  const { data } = await line.weir.json("finding", "list", ...inW, "--project", "shop", "--status", "not_affected");
  expect(data).toMatchObject([{ cve_id: "CVE-2024-0001" }]);
  await line.weir.run(...exporting);
  const again = JSON.parse(await readFile(path, "utf8"));
  for (const format of ["openvex", "csaf"]) {
    expect((await line.weir.run(...exporting, "--format", format)).code).toBe(0);
    expect(await line.weir.json(...importing)).toMatchObject({ updated: 0, unchanged: 3, unmatched: 0 });
  }
  expect(again.vulnerabilities).toContainEqual(
    expect.objectContaining({ id: "CVE-2024-0001", analysis: expect.objectContaining(analysis) }),
  );
  expect(await line.weir.json(...importing)).toMatchObject({ updated: 0, unchanged: 3 });
  const refused = await line.weir.run(...importing, "--as", "auditor@w");
  expect([refused.code, refused.error]).toEqual([1, expect.stringContaining("as auditor")]);
});

test("imported EPSS scores and CISA's catalog rank open findings, and a newer file replaces what it no longer has", async () => {
  const [epss, kev] = [join(line.folder, "epss.csv.gz"), join(line.folder, "kev.json")];
  const scores = "CVE-2024-0002,0.9,0.99\nCVE-2024-0003,0.01,0.1\nCVE-2024-0009,1e-05,0.01\nCVE-1,2,3";
  await writeFile(
    epss,
    gzipSync(`#model_version:v2025.03.14,score_date:2026-11-25T00:00:00+0000\ncve,epss,percentile\n${scores}\n`),
  );
  const entry = { cveID: "CVE-2024-0003", dateAdded: "2026-11-01" };
  const catalog = (vulnerabilities: unknown[], date: string) =>
    JSON.stringify({ dateReleased: `${date}T10:00:00Z`, vulnerabilities });
  await writeFile(kev, catalog([entry, { cveID: "none" }], "2026-11-25"));
  const { out } = await line.weir.run("exploits", "import", "--epss", epss, "--kev", kev);
  expect(out).toBe("epss of 2026-11-25: 3 rows, 1 skipped\nkev of 2026-11-25: 1 rows, 1 skipped\n");
  const urgent = async () => {
    const { data } = await line.weir.json("finding", "urgent", ...inW, "--project", "other");
    return (data as Record<string, unknown>[]).map((row) => [row["cve_id"], row["known_exploited_since"], row["epss"]]);
  };
  expect(await urgent()).toEqual([
    ["CVE-2024-0003", "2026-11-01", 0.01],
    ["CVE-2024-0002", null, 0.9],
  ]);
  expect((await line.weir.run("finding", "urgent", ...inW)).out).toMatch(/^fnd_\w+ +2026-11-01 +1\.0 % +- +CVE-2024-0003 /m);
  await writeFile(kev, catalog([entry], "2026-11-24"));
  await line.weir.json("exploits", "import", "--kev", kev);
  await writeFile(kev, catalog([], "2026-11-26"));
  await line.weir.json("exploits", "import", "--kev", kev);
  expect(await urgent()).toEqual([
    ["CVE-2024-0002", null, 0.9],
    ["CVE-2024-0003", null, 0.01],
  ]);
  const shown = await line.weir.json("finding", "list", ...inW, "--vulnerability", "CVE-2024-0002", "--limit", "1");
  const finding = await line.weir.run("finding", "show", "--id", String(Object(shown["data"])[0].id), ...inW);
  expect(finding.out).toMatch(/^EPSS +90\.0 % within 30 days$/m);
  expect(await line.control.refusal("POST", "/exploits", { body: { date: "2026-11-26" }, as: "super_admin@w" })).toStartWith(
    "403",
  );
  expect(await line.weir.run("exploits", "import")).toMatchObject({ code: 2 });
});

test("a tools key in place of the operator token is enough for gates, lists, decisions and VEX of its workspace, which is not named", async () => {
  const { weir, control, folder } = line;
  const made = await control.key("w", { kind: "tools" });
  await using keyed = new Weir(control);
  keyed.token = made.key;
  const uploading = keyed.run("sbom", "upload", bom, "--project", "keyed", "--fail-on", "high", "--json");
  expect((await world.scanWhile(uploading)).code).toBe(3);
  const checkout = join(folder, "checkout");
  await mkdir(checkout);
  await writeFile(join(checkout, "requirements.txt"), "jinja2==2.11.2\n");
  const imported = await keyed.run("repository", "import", checkout, "--project", "keyed-too", "--json");
  expect([imported.code, JSON.parse(imported.out)]).toMatchObject([0, { project: "keyed-too" }]);
  const vex = join(folder, "keyed.json");
  for (const words of [
    ["vex", "export", "--project", "keyed", "--output", vex],
    ["vex", "import", vex, "--project", "keyed"],
    ["finding", "list", "--project", "keyed", "--format", "sarif"],
    ["finding", "urgent"],
    ["project", "list"],
  ])
    expect([words[1], (await keyed.run(...words)).code]).toEqual([words[1], 0]);
  const [own] = (await weir.json("audit", "list", ...inW, "--limit", "1"))["data"] as unknown[];
  expect(own).toMatchObject({ actor: "member@w", carried_by: "tools key" });
  for (const words of [
    ["product", "create", ...inW, "--name", "x"],
    ["key", "list", ...inW],
  ])
    expect(await keyed.run(...words)).toMatchObject({
      code: 1,
      error: expect.stringContaining("it requires the operator token"),
    });
});

test("--fail-on critical stops malware, and what an advisory calls critical in a word alone, and says where the severity comes from", async () => {
  const affected = (name: string) => [{ ecosystem: "npm" as const, name, ranges: fixedIn("9.0.0") }];
  await world.publish(
    { id: "MAL-2026-1", affected: affected("evil") },
    { id: "GHSA-aaaa-bbbb-cccc", affected: affected("worded"), specific: { severity: "CRITICAL" } },
  );
  const gateOf = async (name: string) => {
    const path = join(line.folder, `${name}.json`);
    const component = { type: "library", name, version: "1.0.0", purl: `pkg:npm/${name}@1.0.0` };
    await writeFile(path, JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.5", components: [component] }));
    return whileScanned("sbom", "upload", path, ...inW, "--project", name, "--fail-on", "critical");
  };
  for (const [name, basis, words] of [
    ["evil", "malware", "critical, malware"],
    ["worded", "word", "critical, the advisory's word"],
  ] as const) {
    const { code, error } = await gateOf(name);
    expect([code, error]).toEqual([3, expect.stringContaining("1 open vulnerability of severity critical")]);
    const { data } = await line.weir.json("finding", "list", ...inW, "--project", name);
    expect(data).toMatchObject([{ severity: "critical", cvss_score: null, severity_basis: basis }]);
    const shown = await line.weir.run("finding", "show", "--id", Object(data)[0].id, ...inW);
    expect(shown.out).toMatch(new RegExp(`^severity +${words}$`, "m"));
  }
});
