/** The pages of security: what each role sees and may do, hostile names, refusals and empty lists. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { formToken } from "../../src/accounts/sessions/browser.ts";
import { importExploits } from "../../src/security/findings/lists/exploits.ts";
import { insertTicket } from "../../src/security/tickets/store.ts";
import { ConsoleWorld, type Browser } from "../support/console.ts";
import { bomJson } from "../support/security/sbom-documents.ts";
import { fixedIn, SecurityWorld } from "../support/security/security-world.ts";
import { oneDatabase, openEmbeddedDatabase, type TestDatabase } from "../support/servers/databases.ts";

const roles = ["member", "auditor", "admin", "super_admin"] as const;

describe.each(oneDatabase)("the pages of security on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let security: SecurityWorld;
  let member: Browser;
  let auditor: Browser;
  let project = "";
  let finding = "";
  let elsewhere = "";
  let strange = "";
  const name = "<i>shop</i> \u202eevil";
  const at = (path: string) => `/console/w/acme${path}`;
  const see = async (path: string, browser = member) => (await world.get(at(path), browser)).text;

  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    const workspace = await world.control.workspace("acme");
    const other = await world.control.workspace("other");
    await world.control.workspace("empty");
    security = new SecurityWorld({ sql: database.sql, clock: world.control.clock, workspace });
    [member, auditor] = [await world.signIn("member@acme"), await world.signIn("auditor@acme")];
    await security.publish({
      id: "GHSA-1111",
      aliases: ["CVE-2026-0001"],
      affected: [
        { ecosystem: "npm", name: "lodash", ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: "4.17.21" }] }] },
      ],
    });
    project = await security.project(name);
    strange = await security.project("strange", other);
    const components = [
      { purl: "pkg:npm/app@1.0.0", relation: "root" as const },
      { purl: "pkg:npm/express@4.0.0", via: 0 },
      { purl: "pkg:npm/lodash@4.17.20", relation: "transitive" as const, via: 1 },
    ];
    await security.upload(project, components);
    await security.upload(strange, ["pkg:npm/lodash@4.17.20"]);
    await security.scan();
    [finding = "", elsewhere = ""] = [(await security.findings(project))[0]?.id, (await security.findings(strange))[0]?.id];
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const lists = ["/projects", "/components", "/findings", "/vulnerabilities", "/products", "/tickets", "/connections"];

  test("Home leads to the open findings that have a fix", async () => {
    const home = await see("");
    for (const words of ["Findings with a fix", "CVE-2026-0001", "4.17.21", `/findings/${finding}`])
      expect(home).toContain(words);
    expect(home).not.toContain(elsewhere);
  });

  test("every list says in words what is not there yet, and auditors are offered no change", async () => {
    for (const role of roles) {
      const browser = await world.signIn(`${role}@empty`);
      for (const path of lists) {
        const { status, text } = await world.get(`/console/w/empty${path}`, browser);
        expect([role, path, status, text.includes('class="state"')]).toEqual([role, path, 200, true]);
        if (role === "auditor") expect([path, text.includes('method="post" action="/console/w')]).toEqual([path, false]);
      }
    }
  });

  test("a finding says why it matches, where to go to, and on which way the project depends on it", async () => {
    const text = await see(`/findings/${finding}`);
    expect(text).toContain("these versions are affected: <strong>before 4.17.21</strong>");
    expect(text).toContain("<strong><bdi>4.17.21</bdi></strong>");
    expect(text).toMatch(/<code>[^<]*express@4\.0\.0<\/code> → <code>[^<]*lodash@4\.17\.20<\/code>/);
    expect(text).toContain("There is no decision yet");
    // What to do and the decision come before the advisory, which may be long.
    const heads = [...text.matchAll(/<h2 id="(\w+)-title">/g)].map(([, id]) => id);
    expect(heads).toEqual(["do", "why", "decide", "about", "history"]);
  });

  test.each([
    ["/findings?severity=&text=lodash", "vulnerability,epss", ["Vulnerability", "EPSS"], "epss"],
    ["/findings?view=package", "package,projects", ["Package", "Projects"], "projects"],
    ["/vulnerabilities?ecosystem=npm", "vulnerability,fix", ["Vulnerability", "Fixed in"], "fix"],
    ["/projects?text=shop", "name,open", ["Name", "Open vulnerabilities"], "open"],
    ["/components?name=lodash", "project,sbom", ["Project", "SBOM of"], "sbom"],
  ])("the columns and the order of %s are in the address, and its filters keep them", async (path, columns, heads, sort) => {
    const text = await see(`${path}&columns=${columns}&sort=-${sort}`);
    expect([...text.matchAll(/<th role="columnheader"[^>]*><a [^>]*>([^<]*)/g)].map(([, head]) => head)).toEqual(heads);
    expect(text.match(/aria-sort="descending"/g)).toHaveLength(1);
    const form = /<form class="filters".*?<\/form>/s.exec(text)?.[0] ?? "";
    expect(form).toContain(`name="columns" value="${columns}"`);
    expect(form).toContain(`name="sort" value="-${sort}"`);
  });

  test("a name with markup and a direction of its own is text on every page", async () => {
    for (const path of [
      "/projects",
      "/findings",
      `/findings/${finding}`,
      `/projects/${project}`,
      `/projects/${project}/components`,
      `/projects/${project}/sboms`,
      "/components?name=lodash",
      "/vulnerabilities/cve-2026-0001",
    ]) {
      const text = await see(path);
      expect([path, text.includes("&#60;i&#62;shop"), text.includes("<i>")]).toEqual([path, true, false]);
    }
  });

  test("several findings are decided about at once, and the list keeps its filters", async () => {
    const answer = await world.post(
      at("/findings?severity=&text=lodash"),
      { action: "triage", finding, status: "in_progress", note: "Ours" },
      member,
    );
    expect(answer.headers.get("location")).toBe(at("/findings?text=lodash"));
    const shown = await see(`/findings/${finding}`);
    expect([shown.includes("in progress"), shown.includes("Ours"), shown.includes("member@acme")]).toEqual([true, true, true]);
  });

  test.each([
    [{ status: "ignored" }, "Select at least one finding"],
    [{ finding: "fnd_none", status: "ignored" }, "There is no finding with the id"],
    [{ finding: "the one", note: "" }, "Choose a status, a match or an owner, or write a note"],
  ])("the decision %p is refused in words, and changes nothing", async (fields, cause) => {
    const given = "finding" in fields && fields.finding === "the one" ? { ...fields, finding } : fields;
    const refused = await world.post(at("/findings"), { action: "triage", ...given }, member);
    expect([refused.status >= 400, refused.text.includes(cause)]).toEqual([true, true]);
    expect(await see(`/findings/${finding}`)).toContain("in progress");
  });

  test("an auditor reads all of it, and no form", async () => {
    expect(await see("/findings", auditor)).not.toContain('name="finding"');
  });

  test.each([
    ["/findings/fnd_none", 404, "fnd_none"],
    ["/findings?project=none", 404, "none"],
    ["/findings?vulnerability=CVE-1999-0001", 404, "CVE-1999-0001"],
    ["/findings?severity=worst", 400, "severity"],
    ["/vulnerabilities?id=CVE-1999-0001", 404, "CVE-1999-0001"],
    ["/vulnerabilities/nothing", 400, "Invalid CVE identifier"],
    ["/projects/prj_none", 404, "prj_none"],
    ["/products/prd_none", 404, "prd_none"],
    ["/tickets?before=tkt_none", 404, "tkt_none"],
    ["/tickets/tkt_none", 404, "tkt_none"],
    ["/connections/con-none", 404, "con-none"],
  ])("%s is refused by name", async (path, status, words) => {
    const answer = await world.get(at(path), member);
    expect([answer.status, answer.text.includes(words)]).toEqual([status, true]);
  });

  test("a finding is not affected for a reason, with an owner, and the VEX document of the list's project says so", async () => {
    const decision = { status: "not_affected", justification: "code_not_reachable", owner: "member@acme", note: "Never called" };
    const made = await world.post(at(`/findings/${finding}`), { action: "decide", ...decision }, member);
    expect([made.status, made.headers.get("location")]).toEqual([303, at(`/findings/${finding}`)]);
    const shown = await see(`/findings/${finding}`);
    for (const words of ["not affected", "the vulnerable code is not reachable", "Never called", 'value="member@acme" selected'])
      expect(shown).toContain(words);
    const vex = await world.get(at(`/findings?as=vex&project=${project}`), member);
    expect(vex.headers.get("content-disposition")).toBe('attachment; filename="vex.cdx.json"');
    expect(JSON.parse(vex.text)).toMatchObject({
      vulnerabilities: [{ analysis: { state: "not_affected", justification: "code_not_reachable", detail: "Never called" } }],
    });
    expect((await world.get(at("/findings?as=vex"), member)).status).toBe(400);
    const sarif = await world.get(at("/findings?as=sarif&status=not_affected"), member);
    expect(JSON.parse(sarif.text)).toMatchObject({ runs: [{ results: [{ ruleId: "CVE-2026-0001", suppressions: [{}] }] }] });
  });

  test("several findings are accepted until a day, and nobody owns them", async () => {
    const day = new Date(world.control.clock.now()).toISOString().slice(0, 10);
    const decision = { action: "triage", finding, status: "ignored", accepted_until: day, owner: "none" };
    expect((await world.post(at("/findings"), decision, member)).status).toBe(303);
    const { accepted_until: until, owner } = await world.control.expect("GET", `/findings/${finding}?workspace=acme`);
    expect([until, owner]).toEqual([day, null]);
    const late = await world.post(at("/findings?status=ignored"), { ...decision, accepted_until: "2020-01-01" }, member);
    expect([late.status, late.text.includes('id="triage-accepted_until-problem"')]).toEqual([400, true]);
    const back = { action: "triage", finding, status: "in_progress" };
    expect((await world.post(at("/findings"), back, member)).status).toBe(303);
  });

  test("what someone decided after the list was loaded is not overwritten by a decision about several, and is named", async () => {
    const other = await security.project("twice");
    await security.upload(other, ["pkg:npm/lodash@4.17.20"]);
    await security.scan();
    const list = await see("/findings?status=all");
    const values = [...list.matchAll(/name="finding" value="([^"]*)"/g)].map(([, value = ""]) => value);
    const ids = [finding, (await security.findings(other))[0]?.id ?? "?"];
    const chosen = values.filter((value) => ids.some((id) => value.startsWith(id)));
    expect(chosen).toHaveLength(2);
    world.control.clock.advance(1_000);
    const admin = await world.signIn("admin@acme");
    const newer = { action: "decide", status: "in_progress", note: "Newer than what the member saw" };
    expect((await world.post(at(`/findings/${finding}`), newer, admin)).status).toBe(303);
    world.control.clock.advance(1_000);
    const several = (fields: Record<string, string>) => {
      const body = new URLSearchParams({ form_token: formToken(member.token), action: "triage", ...fields });
      for (const value of chosen) body.append("finding", value);
      const headers = { cookie: `weir=${member.token}`, "sec-fetch-site": "same-origin" };
      return world.send(new Request(`http://localhost${at("/findings?status=all")}`, { method: "POST", headers, body }));
    };
    // A refused form keeps its rows.
    expect((await several({ status: "" })).text.match(/name="finding"[^>]* checked/g)).toHaveLength(2);
    const { status, text } = await several({ status: "not_affected", note: "From the list" });
    expect(status).toBe(200);
    for (const words of ["1 finding is updated", "1 finding is left", "CVE-2026-0001", "admin@acme", `/findings/${finding}"`])
      expect(text).toContain(words);
    const shown = await world.control.expect("GET", `/findings/${finding}?workspace=acme`);
    expect([shown["status"], shown["note"]]).toEqual(["in_progress", "Newer than what the member saw"]);
    expect((await security.findingLines(other))[0]).toEndWith("not_affected");
  });

  test.each([
    ["", ["critical</span> <strong>0", "By vulnerability"]],
    ["?view=package", ["lodash", "component=lodash"]],
    ["?view=vulnerability", ["CVE-2026-0001", "vulnerability=CVE-2026-0001"]],
    ["?view=exploit", ["synchronizes both under Advisories"]],
    ["?component=lodash&owner=nobody%40acme", ["No finding matches these filters"]],
  ])("the list %p offers its filters and its groups", async (query, words) => {
    const text = await see(`/findings${query}`);
    for (const word of words) expect(text).toContain(word);
  });

  test("a finding’s page has the address for colleagues, with who can open it", async () => {
    const text = await see(`/findings/${finding}`);
    const [, shared = ""] = /id="share-link"[^>]* value="https:\/\/weir\.example\.com([^"]*)"/.exec(text) ?? [];
    expect(text).toContain("Every member of <bdi>acme</bdi> can open it.");
    expect((await world.get(shared, auditor)).text).toContain("Every member of");
    expect((await world.get(shared, await world.signIn("admin@other"))).status).toBe(404);
    world.control.parts.publicUrl = "http://127.0.0.1:8080";
    expect(await see(`/findings/${finding}`)).toContain("opens on no other one");
    world.control.parts.publicUrl = "https://weir.example.com";
  });

  test("nothing of another workspace is shown, also by its id", async () => {
    expect((await world.get(at(`/findings/${elsewhere}`), member)).status).toBe(404);
    expect(await see("/vulnerabilities/CVE-2026-0001")).not.toContain("strange");
  });

  test("a finding, its vulnerability and their lists say what is known of exploits", async () => {
    const cve = "CVE-2026-0001";
    for (const query of ["", `?id=${cve}`]) expect(await see(`/vulnerabilities${query}`)).not.toContain(">exploited<");
    const kev = [{ cve, added: "2026-01-02" }];
    await importExploits(
      { date: "2026-11-20", epss: [{ cve, epss: 0.125, percentile: 0.9 }], kev },
      { sql: database.sql, clock: world.control.clock },
    );
    for (const path of [`/findings/${finding}`, `/vulnerabilities/${cve}`]) {
      const text = await see(path);
      expect(text).toContain("in CISA’s catalog since 2 Jan 2026");
      expect(text).toContain("12.5 % within 30 days, more than 90 % of all vulnerabilities");
    }
    for (const list of ["/findings?status=all", "/vulnerabilities", `/vulnerabilities?id=${cve}`]) {
      const text = await see(list);
      expect([list, text.includes(">exploited<"), text.includes("12.5 %")]).toEqual([list, true, true]);
    }
    const rated = { cve_id: cve, known_exploited_since: "2026-01-02", epss: 0.125, epss_percentile: 0.9 };
    expect(await world.control.list("/vulnerabilities?workspace=acme")).toMatchObject([rated]);
  });

  test("the findings as a file have the rows of the filter", async () => {
    const csv = await world.get(at("/findings?as=csv&text=lodash"), member);
    expect(csv.headers.get("content-type")).toContain("text/csv");
    expect(csv.text.trim().split("\r\n")).toMatchObject([
      expect.stringMatching(/^id,vulnerability,severity/),
      expect.stringContaining(`${finding},CVE-2026-0001`),
    ]);
    expect((await world.get(at("/findings?as=csv&ecosystem=go"), member)).text.trim().split("\r\n").length).toBe(1);
  });

  test("a ticket shows what its member wrote, to them and to overseers, and an admin closes it in the audit log", async () => {
    const id = `tkt_${"a".repeat(26)}`;
    const { id: workspace } = await world.control.expect("GET", "/workspaces/acme");
    const written = { actual_behavior: "<img src=x>\nOne is listed", severity: "high" };
    const of = { workspace: String(workspace), owner: "member@acme", fingerprint: "0".repeat(64), at: new Date() };
    const ticket = { id, reference: "T-1", type: "bug", subject: "Two are missing", details: written, ...of } as const;
    await database.sql.begin((tx) => insertTicket(ticket, tx));
    const page = at(`/tickets/${id}`);
    expect(await see("/tickets")).toContain(`href="${page}"`);
    for (const browser of [member, auditor]) {
      const { text } = await world.get(page, browser);
      for (const words of ["Actual behavior", "&#60;img src=x&#62;\nOne is listed", "high"]) expect(text).toContain(words);
      expect([text.includes("<img"), text.includes('value="status"')]).toEqual([false, false]);
    }
    const close = (browser: Browser) => world.post(page, { action: "status", status: "closed" }, browser);
    expect((await close(member)).status).toBe(403);
    const admin = await world.signIn("admin@acme");
    expect((await close(admin)).status).toBe(303);
    expect((await close(admin)).status).toBe(303);
    expect(await world.control.list("/audit?workspace=acme&event=ticket.updated")).toMatchObject([
      { target: id, changes: { status: { from: "open", to: "closed" } } },
    ]);
    const elsewhereAdmin = await world.signIn("admin@other");
    expect((await world.get(page, elsewhereAdmin)).status).toBe(404);
    expect((await world.get(`/console/w/other/tickets/${id}`, elsewhereAdmin)).status).toBe(404);
  });

  const pathOf = ({ headers }: { headers: Headers }) => (headers.get("location") ?? "").replace("/console/w/acme", "");
  const upload = (path: string, fields: Record<string, string>, file: string | null) =>
    world.upload(at(path), { fields: { action: "upload", ...fields }, file }, member);

  test("a file makes a project, in a product of its own, and another file its next SBOM", async () => {
    const made = await upload("/projects/new", { project: "uploaded", product: "Store" }, JSON.stringify(bomJson("1.6")));
    expect(made.status).toBe(303);
    const path = pathOf(made);
    expect(await see(`${path}/sboms`)).toContain("bom.json");
    expect(await see("/products")).toContain("Store");
    const again = await upload(`${path}/sboms`, {}, JSON.stringify(bomJson("1.5")));
    expect([again.status, again.headers.get("location")]).toEqual([303, at(path)]);
    const kept = await see(`${path}/sboms`);
    for (const words of ["CycloneDX 1.6", "CycloneDX 1.5", "Both have the same packages"]) expect(kept).toContain(words);
    const moved = await world.post(at(`${path}/move`), { action: "move", product: "" }, member);
    expect([moved.status, moved.headers.get("location")]).toEqual([303, at(path)]);
    const products = await world.control.list("/projects?workspace=acme&text=uploaded");
    expect(products).toMatchObject([{ product_id: null }]);
  });

  /** A lock file with lodash in a version, and further packages. */
  const lockFile = (version: string, further: Record<string, string> = {}) => {
    const packages = Object.entries({ lodash: version, ...further }).map(([name, of]) => [
      `node_modules/${name}`,
      { version: of },
    ]);
    const root = { name: "shop", version: "1.0.0", dependencies: { lodash: version } };
    return JSON.stringify({ name: "shop", lockfileVersion: 3, packages: { "": root, ...Object.fromEntries(packages) } });
  };

  test("a package-lock.json makes a project, its fix plan, and with the next one what changed", async () => {
    const send = (path: string, fields: Record<string, string>, file: string) =>
      world.upload(at(path), { fields: { action: "upload", ...fields }, file, filename: "package-lock.json" }, member);
    const made = await send("/projects/new", { project: "locked", product: "Locks" }, lockFile("4.17.20"));
    expect(made.status).toBe(303);
    const path = pathOf(made);
    expect(JSON.parse((await world.get(at(`${path}?as=scan`), member)).text)).toEqual({ scan_status: "pending" });
    expect(await see(path)).toContain('data-scan="pending"');
    await security.scan();
    expect(JSON.parse((await world.get(at(`${path}?as=scan`), member)).text)).toEqual({ scan_status: "completed" });
    expect(await see(path)).toContain("CVE-2026-0001");
    const plan = await see(`${path}/fixes`);
    for (const words of ["1 upgrade clears 1 of 1 open findings", "lodash 4.17.20", "<bdi>4.17.21</bdi></strong>", "directly"])
      expect(plan).toContain(words);
    expect((await send(`${path}/sboms`, {}, lockFile("4.17.21", { "left-pad": "1.3.0" }))).status).toBe(303);
    const changed = await see(`${path}/sboms`);
    for (const words of ["1 added, 0 removed, 1 with another version", "left-pad", "4.17.20", "4.17.21"])
      expect(changed).toContain(words);
    expect(await see("/products")).toContain("Locks");
    const activity = await see(`${path}/activity`);
    for (const words of ["uploaded the SBOM", "member@acme", "created the project"]) expect(activity).toContain(words);
  });

  test("a lock file that cannot be read is refused beside its field", async () => {
    const form = { fields: { action: "upload", project: "broken" }, file: "no lock file", filename: "package-lock.json" };
    const refused = await world.upload(at("/projects/new"), form, member);
    expect([refused.status, refused.text.includes('id="upload-file-problem"')]).toEqual([400, true]);
  });

  test("the activity of a project has each decision once, with its finding", async () => {
    const text = await see(`/projects/${project}/activity`);
    for (const words of ["decided about", "CVE-2026-0001", "member@acme", "in progress"]) expect(text).toContain(words);
    const before = new Date(world.control.clock.now() - 86_400_000 * 400).toISOString();
    expect(await see(`/projects/${project}/activity?before=${before}`)).toContain("Nothing has happened yet");
  });

  test("an auditor sees all tabs of a project and no form, and nobody sees those of another workspace", async () => {
    for (const tab of ["", "/components", "/fixes", "/sboms", "/activity"]) {
      const text = await see(`/projects/${project}${tab}`, auditor);
      expect([tab, text.includes('aria-current="page"'), text.includes('method="post" action="/console/w')]).toEqual([
        tab,
        true,
        false,
      ]);
      expect([tab, (await world.get(at(`/projects/${strange}${tab}`), member)).status]).toEqual([tab, 404]);
    }
    const [{ id = "" } = {}] = (await world.control.list(`/projects/${strange}/sboms?workspace=other`)) as { id?: string }[];
    for (const query of [`components?workspace=acme&sbom=${id}`, `difference?workspace=acme&before=${id}&after=${id}`])
      expect(await world.control.refusal("GET", `/projects/${project}/${query}`)).toStartWith("404 not_found");
  });

  test.each([
    ["no file", null],
    ["a file that is no SBOM", "none"],
  ])("%s is refused beside its field, and what was typed stays", async (_case, file) => {
    const refused = await upload("/projects/new", { project: "kept" }, file);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('id="upload-file-problem"');
    expect(refused.text).toContain('value="kept"');
  });

  test("the findings refresh once someone decides or a scan finds something, and later parts of the list do not", async () => {
    const tagOf = async (query = "") => (await world.get(at(`/findings${query}`), auditor)).headers.get("etag");
    const poll = (tag: string | null) => world.get(at("/findings"), auditor, { "if-none-match": tag ?? "" });
    const fresh = async (tag: string | null) => {
      const { status, text, headers } = await poll(tag);
      expect([status, text.includes("data-refresh=")]).toEqual([200, true]);
      return headers.get("etag");
    };
    const first = await tagOf();
    expect((await poll(first)).status).toBe(304);
    const owned = { action: "triage", finding, owner: "member@acme" };
    expect((await world.post(at("/findings"), owned, member)).status).toBe(303);
    const decided = await fresh(first);
    expect((await poll(decided)).status).toBe(304);
    await security.upload(await security.project("second"), ["pkg:npm/lodash@4.17.19"]);
    const uploaded = await tagOf();
    await security.scan();
    const scanned = await fresh(uploaded);
    world.control.clock.advance(60_000);
    await fresh(scanned);
    for (const query of ["?view=package&skip=50", `?after=${finding}`])
      expect([query, await tagOf(query)]).toEqual([query, null]);
  });
});

test("a severity says where it comes from, and malware stands in the list", async () => {
  await using database = await openEmbeddedDatabase();
  const world = new ConsoleWorld(database.sql);
  const workspace = await world.control.workspace("acme");
  const security = new SecurityWorld({ sql: database.sql, clock: world.control.clock, workspace });
  const affected = [{ ecosystem: "npm" as const, name: "evil", ranges: fixedIn("2.0.0") }];
  await security.publish({ id: "MAL-2026-1", affected }, { id: "GHSA-aaaa-bbbb-cccc", affected, specific: { severity: "HIGH" } });
  const project = await security.project("shop");
  await security.upload(project, ["pkg:npm/evil@1.0.0"]);
  await security.scan();
  const browser = await world.signIn("member@acme");
  const see = async (path: string) => (await world.get(`/console/w/acme${path}`, browser)).text;
  expect(await see("/findings")).toContain("critical, malware");
  const pages = await Promise.all((await security.findings(project)).map(({ id }) => see(`/findings/${id}`)));
  for (const words of ["the package is malware, which is critical", "the advisory&#39;s word: it has no valid CVSS vector"])
    expect([words, pages.some((page) => page.includes(words))]).toEqual([words, true]);
  expect(await see("/vulnerabilities/MAL-2026-1")).toContain("the package is malware, which is critical");
});
