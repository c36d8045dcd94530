/** Triage of findings and their history, as a client with a tools key sees it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { endAcceptedRisks } from "../../../src/security/findings/triage/accepted-risks.ts";
import { openEmbeddedDatabase } from "../../support/servers/databases.ts";
import { lodash, SecurityWorld } from "../../support/security/security-world.ts";
import { toolsStage, type ToolsStage } from "../../support/security/tools-api.ts";
import { objectOf } from "../../support/control.ts";

let stage: ToolsStage;
let world: SecurityWorld;
let auditor: string;
let project: string;
let finding: string;

beforeAll(async () => {
  stage = await toolsStage(openEmbeddedDatabase);
  world = SecurityWorld.on(stage);
  auditor = await stage.key("admin@w");
  await stage.control.expect("PATCH", "/members/admin@w", { body: { workspace: "w", role: "auditor" } });
}, 60_000);
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(async () => {
  project = await world.onlyProject("shop");
  await world.publish(lodash("CVE-2026-0001"));
  await world.upload(project, ["pkg:npm/lodash@4.17.19", "pkg:npm/lodash@4.17.20"]);
  await world.scan();
  finding = (await world.findings(project))[0]?.id ?? "";
});

const update = (body: Record<string, unknown>) => stage.api.data("update_finding", { finding_id: finding, ...body });
const audits = () => stage.control.list("/audit?event=finding.updated");

describe("update_finding", () => {
  test("update_finding triages all present versions and lists the changes", async () => {
    const answer = await stage.api.call("update_finding", { finding_id: finding, status: "ignored", note: "Not reachable" });
    expect(answer.body).toEqual({
      success: true,
      data: {
        finding_id: finding,
        status: "ignored",
        false_positive: false,
        note: "Not reachable",
        justification: null,
        accepted_until: null,
        owner: null,
        changes: [
          { field: "status", from: "open", to: "ignored" },
          { field: "note", from: null, to: "Not reachable" },
        ],
        also_updated: 1,
      },
      message: "CVE-2026-0001 in lodash@4.17.19: status is ignored, was open, the note is set; 1 of other versions followed",
    });
    expect(await world.findingLines(project)).toEqual(["CVE-2026-0001 4.17.19 ignored", "CVE-2026-0001 4.17.20 ignored"]);
  });

  test("update_finding writes history and audit trail once, and a repeated call changes nothing", async () => {
    const before = (await audits()).length;
    await update({ status: "in_progress" });
    const again = await stage.api.call("update_finding", { finding_id: finding, status: "in_progress" });
    expect(objectOf(again.body["data"])).toMatchObject({ changes: [], also_updated: 0 });
    expect(again.body["message"]).toBe("CVE-2026-0001 in lodash@4.17.19 is unchanged");
    expect(await world.events(finding)).toEqual(["scanner found status null open", "member@w decided status open in_progress"]);
    const rows = await audits();
    expect(rows).toHaveLength(before + 1);
    expect(rows[0]).toMatchObject({
      actor: "member@w",
      role: "member",
      carried_by: "tools key",
      target: finding,
      changes: { status: { from: "open", to: "in_progress" } },
    });
  });

  test("a decision survives a new version and ten more SBOMs", async () => {
    await update({ false_positive: true, status: "ignored" });
    for (let round = 0; round < 10; round++) {
      await world.upload(project, ["pkg:npm/lodash@4.17.18"]);
      await world.scan();
    }
    expect(await world.findingLines(project)).toEqual([
      "CVE-2026-0001 4.17.18 ignored false positive",
      "CVE-2026-0001 4.17.19 resolved false positive gone",
      "CVE-2026-0001 4.17.20 resolved false positive gone",
    ]);
  });

  test("a false positive keeps its status, and an empty note removes the note", async () => {
    await update({ false_positive: true, note: "Wrong package" });
    expect(await update({ note: "" })).toMatchObject({ status: "open", false_positive: true, note: null });
    expect(await update({ false_positive: false })).toMatchObject({
      changes: [{ field: "false_positive", from: true, to: false }],
      also_updated: 1,
    });
  });

  test("a gone finding can be ignored for its return, and cannot be opened", async () => {
    await world.upload(project, []);
    await world.scan();
    for (const status of ["open", "in_progress"]) {
      expect(await stage.api.refusal("update_finding", { finding_id: finding, status })).toBe(
        `The finding "${finding}" is gone from its project, so its status cannot be ${status}: it opens by itself when it returns`,
      );
    }
    expect(await update({ status: "ignored" })).toMatchObject({ status: "ignored", also_updated: 0 });
    await world.scan();
    await world.upload(project, ["pkg:npm/lodash@4.17.19"]);
    await world.scan();
    expect((await world.findingLines(project))[0]).toBe("CVE-2026-0001 4.17.19 ignored");
    await world.upload(project, []);
    await world.scan();
    expect(await update({ status: "resolved" })).toMatchObject({
      status: "resolved",
      changes: [{ field: "decision", from: "ignored", to: "open" }],
    });
    await world.upload(project, ["pkg:npm/lodash@4.17.19"]);
    await world.scan();
    expect((await world.findingLines(project))[0]).toBe("CVE-2026-0001 4.17.19 open");
  });

  test("an auditor cannot triage", async () => {
    expect(await stage.api.refusal("update_finding", { finding_id: finding, status: "ignored" }, { key: auditor })).toBe(
      "Cannot decide about findings as auditor: it requires the role member or admin or super_admin",
    );
    expect(await world.events(finding)).toHaveLength(1);
  });

  test("refuses a call that changes nothing", async () => {
    expect(await stage.api.refusal("update_finding", { finding_id: "x" })).toBe(
      'Cannot update a finding without a change: at least one of "status", "false_positive", "justification", "accepted_until", "owner" and "note" is needed',
    );
  });
});

describe("a decision with a reason, an end or an owner", () => {
  test("not affected has a justification, which another status removes", async () => {
    expect(await update({ status: "not_affected", justification: "code_not_reachable" })).toMatchObject({
      status: "not_affected",
      justification: "code_not_reachable",
      changes: [
        { field: "status", from: "open", to: "not_affected" },
        { field: "justification", from: null, to: "code_not_reachable" },
      ],
      also_updated: 1,
    });
    const vex = await stage.control.expect("GET", `/vex?workspace=w&project=${project}`);
    expect(vex).toMatchObject({
      vulnerabilities: [{ analysis: { state: "not_affected", justification: "code_not_reachable" }, affects: [{}, {}] }],
    });
    expect(await update({ status: "open" })).toMatchObject({ status: "open", justification: null });
  });

  test("the owner is an active member of the workspace, in any spelling, and nobody else", async () => {
    expect(await update({ owner: "Member@W" })).toMatchObject({ status: "open", owner: "member@w" });
    expect(await update({ owner: "" })).toMatchObject({ owner: null });
    for (const owner of ["stranger@w", "x"]) {
      expect(await stage.api.refusal("update_finding", { finding_id: finding, owner })).toBe(
        `Cannot take "${owner}" as owner: no active member of the workspace has the address`,
      );
    }
  });

  test("an accepted risk opens its findings again on the day after its last day, by the service's clock", async () => {
    const { clock } = world;
    const endOf = (days: number) => new Date(clock.now() + days * 86_400_000).toISOString().slice(0, 10);
    await update({ status: "ignored", accepted_until: endOf(2), note: "Behind a wall", owner: "member@w" });
    const ended = () => endAcceptedRisks({ sql: world.sql, clock });
    clock.advance(2 * 86_400_000);
    expect(await ended()).toBe(0);
    expect(await world.findingLines(project)).toEqual(["CVE-2026-0001 4.17.19 ignored", "CVE-2026-0001 4.17.20 ignored"]);
    clock.advance(86_400_000);
    expect([await ended(), await ended()]).toEqual([1, 0]);
    expect(await world.findingLines(project)).toEqual(["CVE-2026-0001 4.17.19 open", "CVE-2026-0001 4.17.20 open"]);
    expect((await world.events(finding)).at(-1)).toStartWith("scanner acceptance_ended status ignored open");
    expect((await audits())[0]).toMatchObject({ actor: "weir", changes: { status: { from: "ignored", to: "open" } } });
    expect(await stage.control.expect("GET", `/findings/${finding}?workspace=w`)).toMatchObject({
      status: "open",
      note: "Behind a wall",
      owner: "member@w",
      accepted_until: null,
    });
    await world.scan();
    expect((await world.findingLines(project))[0]).toBe("CVE-2026-0001 4.17.19 open");
  });

  test("with a rule, each ending of an accepted risk is one alert for admins, who accepted it and who owns it", async () => {
    const { clock, sql } = world;
    const today = () => new Date(clock.now()).toISOString().slice(0, 10);
    const alerts = () => stage.control.list("/alerts?workspace=w");
    const ended = () => endAcceptedRisks({ sql, clock });
    const end = async () => {
      await update({ status: "ignored", accepted_until: today(), owner: "owner@w" });
      clock.advance(86_400_000);
      // Two processes look at once.
      expect((await Promise.all([ended(), ended()])).toSorted()).toEqual([0, 1]);
    };
    await stage.control.expect("POST", "/members", { body: { workspace: "w", email: "owner@w", role: "member" } });
    const [wasOn, before] = [today(), (await alerts()).length];
    await end();
    expect((await alerts()).length).toBe(before);

    const rule = { workspace: "w", kind: "accepted_risk_ended" };
    const { id } = await stage.control.expect("POST", "/alert-rules", { body: rule });
    const until = today();
    expect(until).not.toBe(wasOn);
    await end();
    const [alert, ...others] = (await alerts()).slice(0, (await alerts()).length - before);
    expect(others).toEqual([]);
    expect(alert).toMatchObject({
      kind: "accepted_risk_ended",
      text: expect.stringMatching(
        /^2 findings of the project "shop" \(prj_\w+\) are open again .*, such as CVE-2026-0001 in lodash 4\.17\.19: member@w accepted the risk until [-\d]{10}$/,
      ),
    });
    const [row] = await sql<{ body: string }[]>`SELECT body FROM alerts WHERE id = ${String(alert?.["id"])}`;
    expect(JSON.parse(row?.body ?? "").data).toMatchObject({
      project: { id: project, name: "shop" },
      findings_opened: 2,
      findings: [
        { id: finding, cve_id: "CVE-2026-0001", component: "lodash", accepted_by: "member@w", accepted_until: until },
        { component_version: "4.17.20" },
      ],
    });
    const mails = await sql<{ recipient: string; body: string }[]>`
      SELECT recipient, body FROM mails WHERE subject = 'Accepted risks have ended' ORDER BY recipient`;
    expect(mails.map(({ recipient }) => recipient)).toEqual(["member@w", "owner@w", "super_admin@w"]);
    expect(mails[0]?.body).toContain(`CVE-2026-0001 in lodash 4.17.20, accepted by member@w until ${until}`);
    await end();
    expect(await alerts()).toHaveLength(before + 2);
    await stage.control.expect("DELETE", `/alert-rules/${String(id)}?workspace=w`);
  });

  test("a finding that is gone stays resolved when its accepted risk ends, and opens when it returns", async () => {
    const until = new Date(world.clock.now()).toISOString().slice(0, 10);
    await update({ status: "ignored", accepted_until: until });
    await world.upload(project, []);
    await world.scan();
    world.clock.advance(86_400_000);
    await endAcceptedRisks({ sql: world.sql, clock: world.clock });
    expect((await world.findingLines(project))[0]).toBe("CVE-2026-0001 4.17.19 resolved gone");
    await world.upload(project, ["pkg:npm/lodash@4.17.19"]);
    await world.scan();
    expect((await world.findingLines(project))[0]).toBe("CVE-2026-0001 4.17.19 open");
  });
});

describe("list_finding_events", () => {
  test("list_finding_events lists the history of a finding in pages, newest first", async () => {
    await update({ status: "ignored" });
    await world.upload(project, []);
    await world.scan();
    const first = await stage.api.data("list_finding_events", { finding_id: finding, limit: 2 });
    expect(first).toMatchObject({
      events: [
        {
          actor: "scanner",
          cause: "component_gone",
          changes: [{ field: "status", from: "ignored", to: "resolved" }, { field: "present" }],
        },
        { actor: "member@w", cause: "decided", changes: [{ field: "status", from: "open", to: "ignored" }] },
      ],
      total: 3,
      has_more: true,
    });
    const second = await stage.api.data("list_finding_events", { finding_id: finding, limit: 2, offset: 2 });
    expect(second).toMatchObject({
      events: [{ cause: "found", changes: [{ field: "status", from: null, to: "open" }] }],
      has_more: false,
    });
    expect(await stage.api.refusal("list_finding_events", { finding_id: finding, limit: 201 })).toMatch(
      /from 1 to 200 is needed$/,
    );
  });
});
