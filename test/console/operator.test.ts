/** The operator's pages: workspaces and credit, the ledger, and the state of the service. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ledgerChecks } from "../../src/console/pages/operator/ledger-page.ts";
import { invariants } from "../../src/gateway/metering/verify-store.ts";
import { ConsoleWorld, type Browser } from "../support/console.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

describe.each(oneDatabase)("the operator's pages on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let operator: Browser;
  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    await world.control.workspace("acme", "10");
    operator = await world.signIn(null);
  });
  afterAll(() => database[Symbol.asyncDispose]());

  test("the start of the Console leads the operator to the workspaces, and a member to theirs", async () => {
    const member = await world.signIn("member@acme");
    expect((await world.get("/console", operator)).headers.get("location")).toBe("/console/operator");
    expect((await world.get("/console", member)).headers.get("location")).toBe("/console/w/acme");
    expect((await world.get("/console/operator", operator)).text).toContain("acme");
  });

  test("the operator opens a workspace, once for each name", async () => {
    const open = (name: string) => world.post("/console/operator", { action: "open", name, credit_usd: "2.5" }, operator);
    const opened = await open("new one");
    expect(opened.status).toBe(303);
    expect((await world.get(opened.headers.get("location") ?? "", operator)).text).toContain('value="2.500000000"');
    expect((await open("new one")).status).toBe(409);
    expect((await open("")).text).toContain('id="new-workspace-name-problem"');
  });

  test("credit with one reference is added once, and refused with another amount", async () => {
    const [workspace] = await world.control.list("/workspaces?workspace=acme");
    const path = `/console/operator/workspaces/${String(workspace?.["id"])}`;
    const add = (usd: string) => world.post(path, { action: "credit", usd, ref: "invoice 7" }, operator);
    expect([(await add("1")).status, (await add("1")).status, (await add("2")).status]).toEqual([303, 303, 409]);
    expect((await world.get(path, operator)).text).toContain('value="11.000000000"');
  });

  test("the ledger is verified without a script too", async () => {
    const answer = await world.post("/console/operator/ledger", { action: "verify" }, operator);
    expect([answer.status, answer.text.includes("The ledger is correct: all checks passed.")]).toEqual([200, true]);
    expect(answer.text.indexOf("all checks passed")).toBeLessThan(answer.text.indexOf("without a gap"));
    expect(answer.text).not.toContain("not checked");
  });

  test("each check of the ledger has words, in the order of the checks", () => {
    expect(Object.keys(ledgerChecks)).toEqual(Object.keys(invariants));
  });

  test("the fleet shows each process with its figures and alarms, its problems first, and how providers answer", async () => {
    const path = "/console/operator/service";
    expect((await world.get(path, operator)).text).toContain("No alarm was raised");
    const { fleet } = world.control;
    world.control.fleet = {
      ...fleet,
      ok: false,
      problems: ["No process answers as mailer"],
      settlements_waiting: 1_204,
      processes: [
        {
          ...runs("gateway", "a"),
          requests_per_second: 12.25,
          lag_seconds: null,
          alarms: [{ alarm: "top_up.refused", count: 3 }],
        },
        { ...runs("gateway", "b"), requests_per_second: 30, lag_seconds: null, alarms: [] },
        { ...runs("admission", "<b>"), requests_per_second: null, lag_seconds: 7.5, alarms: [] },
        // Of a version that sends none of these figures.
        runs("scanner", "c"),
      ],
    };
    const { text } = await world.get(`${path}?sort=-requests`, operator);
    for (const words of ["No process answers as mailer", "42.3", "1,204", "none was booked for 7.5 s", "top_up.refused"])
      expect(text).toContain(words);
    expect(text).not.toContain("<b>");
    const rows = [...text.matchAll(/<th role="rowheader"[^>]*><bdi>(gateway|admission|scanner)</g)].map(([, role]) => role);
    expect(rows).toEqual(["gateway", "gateway", "admission", "scanner"]);
    expect(text.indexOf("No process answers as mailer")).toBeLessThan(text.indexOf("Processes"));
    world.control.fleet = fleet;
  });

  test("the fleet refreshes once a process or a figure changes, and a question costs one roll call", async () => {
    const path = "/console/operator/service";
    const { fleet } = world.control;
    let calls = 0;
    const { parts } = world.control;
    const { fleetState } = parts;
    parts.fleetState = () => {
      calls++;
      return fleetState();
    };
    const tag = (await world.get(path, operator)).headers.get("etag") ?? "";
    const poll = (of: string) => world.get(path, operator, { "if-none-match": of });
    expect([(await poll(tag)).status, calls]).toEqual([304, 2]);
    world.control.fleet = { ...fleet, processes: [{ ...runs("gateway", "a"), requests_per_second: 12.25 }] };
    const fresh = await poll(tag);
    expect([fresh.status, fresh.text.includes("12.3"), calls]).toEqual([200, true, 3]);
    expect((await poll(fresh.headers.get("etag") ?? "")).status).toBe(304);
    world.control.fleet = fleet;
    parts.fleetState = fleetState;
  });

  const runs = (role: string, host: string) => ({ role, host, version: "0", pid: 1, started_at: "2026-01-01T00:00:00Z" });

  test.each(["member", "auditor", "admin", "super_admin"])(
    "a %s sees none of these pages and opens no workspace",
    async (role) => {
      const browser = await world.signIn(`${role}@acme`);
      for (const path of ["", "/workspaces/new", "/ledger", "/service"]) {
        expect((await world.get(`/console/operator${path}`, browser)).status).toBe(403);
      }
      expect((await world.get("/console/operator", browser)).text).toContain("Only the operator can open this page.");
      expect((await world.post("/console/operator", { action: "open", name: "no" }, browser)).status).toBe(403);
    },
  );
});
