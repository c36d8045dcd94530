/** Findings over the control API: their search, their details, and triage of several at once. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findingsFollowingMax } from "../../src/security/findings/limits.ts";
import { findingsSearchedMax } from "../../src/security/limits.ts";
import { Control, objectOf } from "../support/control.ts";
import { ListWorld } from "../support/security/list-world.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

type Row = Record<string, unknown>;

describe.each(oneDatabase)("findings on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  let world: ListWorld;
  let shop = "";
  let elsewhere = "";
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    world = new ListWorld(database.sql);
    const workspace = await control.workspace("w");
    const other = await control.workspace("other");
    const product = await world.product(workspace, "Store");
    shop = await world.project(workspace, "shop", product);
    const tools = await world.project(workspace, "tools");
    const lodash = await world.package("npm", "lodash");
    const django = await world.package("PyPI", "django");
    const bad = await world.vulnerability("CVE-2021-23337", { rank: 3072 });
    const worse = await world.vulnerability("CVE-2024-1", { rank: 4098 });
    await database.sql`INSERT INTO vulnerability_names (name, vulnerability_id, shared) VALUES ('CVE-2021-23337', ${bad}, false), ('GHSA-aaaa', ${bad}, false)`;
    await database.sql`INSERT INTO exploits (cve, epss, percentile, kev_added) VALUES ('CVE-2021-23337', 0.5, 0.9, '2022-01-02')`;
    const find = async (name: string, given: Parameters<ListWorld["find"]>[0][number]) => {
      [ids[name] = ""] = await world.find([given]);
    };
    await find("lodash", { project: shop, package: lodash, version: "4.17.20", vulnerability: bad });
    await find("older lodash", { project: shop, package: lodash, version: "4.17.19", vulnerability: bad });
    await find("django", { project: shop, package: django, version: "4.0", vulnerability: worse, status: "in_progress" });
    await find("tools", { project: tools, package: lodash, version: "4.17.20", vulnerability: bad, status: "ignored" });
    await database.sql`UPDATE findings SET fix_version = NULL WHERE id = ${ids["django"] ?? ""}`;
    const strange = await world.project(other, "strange");
    [elsewhere = ""] = await world.find([{ project: strange, package: lodash, version: "1", vulnerability: bad }]);
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const page = async (query: string) => control.expect("GET", `/findings?workspace=w&${query}`);
  const found = async (query: string) => {
    const { data } = await page(query);
    return (data as Row[]).map(({ id }) => Object.keys(ids).find((name) => ids[name] === id));
  };

  test.each([
    ["", ["django", "lodash", "older lodash", "tools"]],
    ["severity=critical", ["django"]],
    ["status=live", ["django", "lodash", "older lodash"]],
    ["status=ignored", ["tools"]],
    ["project=tools", ["tools"]],
    ["product=Store&status=open", ["lodash", "older lodash"]],
    ["ecosystem=npm&project=shop", ["lodash", "older lodash"]],
    ["fixable=false", ["django"]],
    ["fixable=true&status=live", ["lodash", "older lodash"]],
    ["text=LODA&project=tools", ["tools"]],
    ["text=ghsa-AAAA&status=ignored", ["tools"]],
    ["vulnerability=CVE-2021-23337&project=shop", ["lodash", "older lodash"]],
    ["vulnerability=GHSA-aaaa&text=django", []],
    ["exploited=true&status=live", ["lodash", "older lodash"]],
    ["exploited=false", ["django"]],
    ["component=lodash&project=tools", ["tools"]],
    ["component=loda", []],
    ["owner=Owner@W", []],
  ])("the filter %p finds what it names, the most severe first", async (query, expected) => {
    expect(await found(query)).toEqual(expected);
  });

  test("a row says how likely its vulnerability is exploited, and since when it is", async () => {
    const { data } = await page("status=live");
    expect((data as Row[]).map((row) => [row["known_exploited_since"], row["epss"]])).toEqual([
      [null, null],
      ["2022-01-02", 0.5],
      ["2022-01-02", 0.5],
    ]);
  });

  test.each([
    ["", { critical: 1, high: 3, total: 4, exploited: null }],
    ["&status=live", { critical: 1, high: 2, medium: 0, unknown: 0, total: 3, exploited: 2 }],
    ["&status=live&project=tools", { total: 0, exploited: 0 }],
    ["&status=ignored&product=Store", { total: 0 }],
  ])("counts %p by severity", async (query, expected) => {
    expect(await control.expect("GET", `/finding-counts?workspace=w${query}`)).toMatchObject(expected);
  });

  const groups = async (query: string) => {
    const { data, total, whole } = await control.expect("GET", `/finding-groups?workspace=w&${query}`);
    expect(whole).toBe(true);
    return [total, ...(data as Row[]).map((row) => [row["component"] ?? row["cve_id"], row["findings"], row["projects"]])];
  };

  test("groups by package and by vulnerability have the same findings as the list, the most severe first", async () => {
    expect(await groups("by=package")).toEqual([2, ["django", 1, 1], ["lodash", 3, 2]]);
    expect(await groups("by=vulnerability&status=live")).toEqual([2, ["CVE-2024-1", 1, 1], ["CVE-2021-23337", 2, 1]]);
    expect(await groups("by=package&exploited=true&status=ignored")).toEqual([1, ["lodash", 1, 1]]);
    expect(await groups("by=package&limit=1&offset=1")).toEqual([2, ["lodash", 3, 2]]);
    expect(await groups("by=package&ecosystem=maven")).toEqual([0]);
  });

  test("groups and counts are of the own workspace, and of nothing unknown", async () => {
    expect(await control.refusal("GET", "/finding-groups?workspace=w&by=package&project=strange")).toBe("404 not_found project");
    expect(await control.refusal("GET", "/finding-groups?workspace=w&by=project")).toBe("400 invalid_field by");
    expect(await control.refusal("GET", "/finding-counts?workspace=w&project=strange")).toBe("404 not_found project");
  });

  test("pages by `after` show each finding once, and the last one has no next page", async () => {
    const seen: unknown[] = [];
    let after = "";
    for (let pages = 0; pages < 10; pages++) {
      const { data, next, total } = await page(`limit=1${after}`);
      expect(total).toBe(4);
      seen.push(...(data as Row[]).map(({ id }) => id));
      if (next === null) break;
      after = `&after=${String(next)}`;
    }
    expect(seen).toEqual(["django", "lodash", "older lodash", "tools"].map((name) => ids[name]));
  });

  test.each([
    ["project=none", "404 not_found project"],
    ["product=prd_aaaaaaaaaaaaaaaaaaaaaaaaaa", "404 not_found product"],
    ["vulnerability=CVE-1999-0001", "404 not_found vulnerability"],
    ["vulnerability=lodash", "400 invalid_field vulnerability"],
    ["after=fnd_none", "404 not_found null"],
    ["text=fnd_aaaaaaaaaaaaaaaaaaaaaaaaaa", "404 not_found null"],
    ["project=shop&product=Store", "400 invalid_field product"],
    ["limit=201", "400 invalid_field limit"],
  ])("%p is refused, and no list is empty because of it", async (query, refusal) => {
    expect(await control.refusal("GET", `/findings?workspace=w&${query}`)).toBe(refusal);
  });

  test("a finding of another workspace is unknown", async () => {
    expect(await control.refusal("GET", `/findings/${elsewhere}?workspace=w`)).toBe("404 not_found null");
    const body = { workspace: "w", findings: [ids["lodash"], elsewhere], status: "ignored" };
    expect(await control.refusal("PATCH", "/findings", { body })).toBe("404 not_found null");
    expect(await found("status=open&project=shop")).toEqual(["lodash", "older lodash"]);
  });

  test("a decision that more than a thousand findings would follow is refused and changes none, since others wait for it", async () => {
    const large = await world.project(await control.workspace("large"), "large");
    const named: string[] = [];
    for (const name of ["one", "two"]) {
      const [id, vulnerability] = [await world.package("npm", name), await world.vulnerability(`CVE-2024-${name}`)];
      const versions = Array.from({ length: findingsFollowingMax / 2 + 1 }, (_, version) => `1.${version}`);
      const made = await world.find(versions.map((version) => ({ project: large, package: id, version, vulnerability })));
      named.push(made[0] ?? "");
    }
    const decide = (findings: string[]) => ({ body: { workspace: "large", findings, status: "ignored" } });
    expect(await control.refusal("PATCH", "/findings", decide(named))).toBe("400 invalid_field findings");
    const [{ count } = {}] = await database.sql`
      SELECT count(*)::integer AS count FROM findings WHERE project_id = ${large} AND status <> 'open'`;
    expect(count).toBe(0);
    const alone = await control.expect("PATCH", "/findings", decide(named.slice(0, 1)));
    expect(alone).toMatchObject({ also_updated: findingsFollowingMax / 2 });
  });

  test("a decision about several findings holds for all of them, in the name of the member", async () => {
    const body = { workspace: "w", findings: [ids["lodash"], ids["django"]], status: "ignored", note: "Not reachable" };
    const made = await control.expect("PATCH", "/findings", { body, as: "member@w" });
    expect(made).toEqual({ updated: [ids["lodash"], ids["django"]], unchanged: [], also_updated: 1 });
    const shown = await control.expect("GET", `/findings/${ids["django"]}?workspace=w`);
    expect(shown).toMatchObject({
      status: "ignored",
      note: "Not reachable",
      decided_by: "member@w",
      present: true,
      relation: null,
    });
    const events = await control.list(`/findings/${ids["django"]}/events?workspace=w`);
    expect(events).toMatchObject([{ actor: "member@w", cause: "decided" }]);
    const audited = await control.list("/audit?workspace=w&event=finding.updated");
    expect(audited.map(({ target }) => target)).toEqual(expect.arrayContaining([ids["lodash"], ids["django"]]));
    const again = await control.expect("PATCH", "/findings", { body, as: "member@w" });
    expect(again).toMatchObject({ updated: [], unchanged: [ids["lodash"], ids["django"]] });
  });

  test("what someone else decided meanwhile is not overwritten, and an owner finds what is theirs", async () => {
    const id = ids["django"] ?? "";
    const decide = (further: Row) => ({ body: { workspace: "w", findings: [id], ...further } });
    const { decided_at: seen } = await control.expect("GET", `/findings/${id}?workspace=w`);
    control.clock.advance(1_000);
    const first = decide({ owner: "Member@W", if_decided_at: seen });
    expect(await control.expect("PATCH", "/findings", { ...first, as: "admin@w" })).toMatchObject({ updated: [id] });
    control.clock.advance(1_000);
    for (const stale of [seen, null]) {
      const second = decide({ status: "open", if_decided_at: stale });
      expect(await control.refusal("PATCH", "/findings", second)).toBe("409 conflict null");
    }
    expect(await found("owner=MEMBER@w&status=ignored")).toEqual(["django"]);
    expect(await control.refusal("PATCH", "/findings", decide({ note: "x", if_decided_at: "yesterday" }))).toBe(
      "400 invalid_field if_decided_at",
    );
  });

  test("of several findings those that someone decided about meanwhile are left and named, and the others follow", async () => {
    const named = [ids["lodash"] ?? "", ids["django"] ?? ""];
    const rows = await control.list("/findings?workspace=w");
    const seen = named.map((id) => rows.find((row) => row["id"] === id)?.["decided_at"] ?? null);
    const decide = (further: Row) => ({ body: { workspace: "w", findings: named, note: "Seen", ...further } });
    expect(await control.refusal("PATCH", "/findings", decide({ seen_decided_at: [null] }))).toBe(
      "400 invalid_field seen_decided_at",
    );
    expect(await control.refusal("PATCH", "/findings", decide({ seen_decided_at: seen, if_decided_at: null }))).toBe(
      "400 invalid_field seen_decided_at",
    );
    control.clock.advance(1_000);
    const newer = { workspace: "w", findings: [ids["django"]], note: "Newer" };
    await control.expect("PATCH", "/findings", { body: newer, as: "admin@w" });
    control.clock.advance(1_000);
    const made = await control.expect("PATCH", "/findings", decide({ seen_decided_at: seen }));
    expect(made).toMatchObject({
      updated: [ids["lodash"]],
      decided_meanwhile: [{ id: ids["django"], component: "django", status: "ignored", decided_by: "admin@w" }],
    });
    expect((await control.expect("GET", `/findings/${ids["django"]}?workspace=w`))["note"]).toBe("Newer");
    const none = { ...decide({}).body, findings: named.slice(1), seen_decided_at: [seen[1] ?? null] };
    expect(await control.expect("PATCH", "/findings", { body: none })).toMatchObject({ updated: [], unchanged: [] });
  });

  test("a decision that one finding cannot take changes none of them", async () => {
    await database.sql`UPDATE findings SET present = false, status = 'resolved' WHERE id = ${ids["tools"] ?? ""}`;
    const body = { workspace: "w", findings: [ids["lodash"], ids["tools"]], status: "open" };
    expect(await control.refusal("PATCH", "/findings", { body })).toBe("409 conflict null");
    expect(objectOf(await control.expect("GET", `/findings/${ids["lodash"]}?workspace=w`))["status"]).toBe("ignored");
  });

  test("an auditor reads findings and decides nothing", async () => {
    const as = "auditor@w";
    expect((await control.list("/findings?workspace=w", { as })).length).toBe(4);
    const body = { workspace: "w", findings: [ids["lodash"]], status: "open" };
    expect(await control.refusal("PATCH", "/findings", { body, as })).toBe("403 forbidden null");
  });

  test("a search that no index serves reads a bounded number of findings for each page, and misses none", async () => {
    const crowd = await world.project(await workspaceId(), "crowd");
    const many = await world.package("Go", "example.com/many");
    const rare = await world.package("Go", "example.com/rare");
    const issues: bigint[] = [];
    for (let n = 0; n < 3; n++) issues.push(await world.vulnerability(`CVE-2025-${n}`, { rank: 4090 - n }));
    const [first = 0n, , last = 0n] = issues;
    await world.find(
      Array.from({ length: findingsSearchedMax + 1 }, (_, n) => ({
        project: crowd,
        package: many,
        version: `1.${n}`,
        vulnerability: first,
      })),
    );
    const [wanted] = await world.find([{ project: crowd, package: rare, version: "1", vulnerability: last }]);
    const one = await page("project=crowd&text=rare");
    expect([one["data"], one["total"]]).toEqual([[], null]);
    const two = await page(`project=crowd&text=rare&after=${String(one["next"])}`);
    expect((two["data"] as Row[]).map(({ id }) => id)).toEqual([wanted]);
    expect(two["next"]).toBeNull();
  });

  test("a search reads on where the first findings do not fill its page", async () => {
    const crowd = await world.project(await workspaceId(), "smaller crowd");
    const [many, late] = [await world.package("Go", "example.com/much"), await world.package("Go", "example.com/late")];
    const [first, last] = [
      await world.vulnerability("CVE-2025-10", { rank: 4090 }),
      await world.vulnerability("CVE-2025-11", { rank: 4089 }),
    ];
    await world.find(
      Array.from({ length: 1_000 }, (_, n) => ({ project: crowd, package: many, version: `1.${n}`, vulnerability: first })),
    );
    const [wanted] = await world.find([{ project: crowd, package: late, version: "1", vulnerability: last }]);
    const found = await page("project=smaller+crowd&text=late");
    expect((found["data"] as Row[]).map(({ id }) => id)).toEqual([wanted]);
    expect(found["next"]).toBeNull();
  });

  async function workspaceId(): Promise<string> {
    return String((await control.expect("GET", "/workspaces/w"))["id"]);
  }
});
