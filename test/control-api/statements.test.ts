import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { printStatement } from "../../scripts/weir/verbs/usage.ts";
import { StatementList, StatementView } from "../../src/gateway/statements/schema.ts";
import { selectCallerId } from "../../src/accounts/members/store.ts";
import { Control } from "../support/control.ts";
import { settlement } from "../support/gateway/settlements.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";
import { Closer } from "../support/statements/closer.ts";
import { LedgerHistory } from "../support/statements/ledger-history.ts";

describe.each(oneDatabase)("GET /statements on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  const hostile = '=HYPERLINK("x")';

  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    const workspace = await control.workspace("w");
    const mine = (await control.key("w", { name: hostile })).id;
    const theirs = (await control.key("w", { owner: "admin@w", name: "theirs" })).id;
    const history = new LedgerHistory(database.sql, workspace);
    const of = (key: string, admittedAt: number) => settlement({ workspace, key, admittedAt });
    const october = Date.UTC(2026, 9, 5);
    await history.enter("2026-09-02T00:00:00Z", { kind: "credit", nano: 1_000_000_000n, reference: "invoice" });
    await history.book("2026-10-05T00:00:01Z", of(mine, october), of(theirs, october), of(theirs, october));
    const november = Date.UTC(2026, 10, 5);
    const inWorkbench = (await selectCallerId({ workspace, email: "member@w" }, database.sql)) ?? "";
    await history.book("2026-11-05T00:00:01Z", of(theirs, november), of(inWorkbench, november));
    await new Closer(database.sql).closeAt("2026-11-20T12:00:00Z");
    await control.workspace("off", "1");
    await control.expect("PATCH", "/workspaces/w", { body: { early_access: ["usage_statements"] } });
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const list = async (query = "", as?: string) => {
    const body = await control.expect("GET", `/statements?workspace=w${query}`, as === undefined ? {} : { as });
    if (!Value.Check(StatementList, body)) throw new Error(`Not as described: ${JSON.stringify(body)}`);
    return body;
  };
  const show = async (number: string, as?: string) => {
    const body = await control.expect("GET", `/statements/${number}?workspace=w`, as === undefined ? {} : { as });
    if (!Value.Check(StatementView, body)) throw new Error(`Not as described: ${JSON.stringify(body)}`);
    return body;
  };

  test("the list begins with the open month, and goes on by a cursor", async () => {
    const { data, next } = await list("&limit=1");
    expect(data).toMatchObject([
      {
        number: "2026-11",
        closed: false,
        closed_at: null,
        charges_usd: "0.000400000",
        closing_balance_usd: "0.999000000",
        sha256: null,
      },
      { number: "2026-10", closed: true, opening_balance_usd: "1.000000000", charges_usd: "0.000600000" },
    ]);
    expect(next).toBe("2026-10");
    expect(await list("&limit=1&before=2026-10")).toMatchObject({
      data: [{ number: "2026-09", credits_usd: "1.000000000", charges_usd: "0.000000000" }],
      next: null,
    });
  });

  test("overseers see the whole statement, members the lines of their own keys without balances", async () => {
    const whole = await show("2026-10");
    expect(whole).toMatchObject({ closed: true, charges_usd: "0.000600000", closing_balance_usd: "0.999400000" });
    expect(whole.lines.map(({ key_name: name }) => name)).toEqual(["theirs", hostile]);
    for (const as of ["auditor@w", "admin@w", "super_admin@w"]) expect(await show("2026-10", as)).toEqual(whole);
    const own = await show("2026-10", "member@w");
    expect(Object.keys(own).toSorted()).toEqual([
      "charges_usd",
      "closed",
      "closed_at",
      "lines",
      "number",
      "period",
      "reference",
      "workspace",
    ]);
    expect(own).toMatchObject({ charges_usd: "0.000200000", lines: [{ key_name: hostile, member: "member@w" }] });
    expect((await list("", "member@w")).data[1]).toEqual({ number: "2026-10", closed: true, closed_at: expect.any(String) });
  });

  test("the open month is the same document, for members too", async () => {
    expect(await show("2026-11")).toMatchObject({
      closed: false,
      sha256: null,
      ledger: { from_seq: 3, to_seq: 3 },
      lines: [
        { key_name: "theirs", member: "admin@w", requests: 1 },
        { key_id: null, key_name: "Workbench", member: "member@w", requests: 1 },
      ],
    });
    expect(await show("2026-11", "member@w")).toMatchObject({
      closed: false,
      charges_usd: "0.000200000",
      lines: [{ key_name: "Workbench", requests: 1 }],
    });
    expect((await show("2026-11", "admin@w")).lines).toHaveLength(2);
  });

  test("as CSV the lines are a file whose cells no spreadsheet runs", async () => {
    const { headers, text } = await file("/statements/2026-10?workspace=w&format=csv");
    expect(headers.get("content-disposition")).toBe('attachment; filename="statement-w-2026-10.csv"');
    const [head, , own] = text.split("\r\n");
    expect(head).toStartWith("statement,key_id,key_name,member,model,");
    expect(own).toContain(`,"'=HYPERLINK(""x"")",member@w,sandbox/echo,`);
  });

  /** Answers that are no JSON. */
  async function file(path: string): Promise<{ headers: Headers; text: string }> {
    const served = control.listen();
    const response = await fetch(`${served.url}/api/console${path}`, {
      headers: { authorization: "Bearer operator-token-of-the-tests" },
    });
    const text = await response.text();
    await served.stop();
    return { headers: response.headers, text };
  }

  test("a month without a statement, another workspace and a workspace without the switch are not found", async () => {
    for (const number of ["2026-08", "2026-12", "x"])
      expect(await control.refusal("GET", `/statements/${number}?workspace=w`)).toBe("404 not_found number");
    for (const path of ["/statements", "/statements/2026-11"])
      expect(await control.refusal("GET", `${path}?workspace=off`)).toBe("404 not_found null");
    expect(await control.refusal("GET", "/statements/2026-10?workspace=w", { as: "member@off" })).toBe("403 forbidden X-Act-As");
    expect(await control.refusal("GET", "/statements/2026-10?workspace=w&format=pdf")).toBe("400 invalid_field format");
  });

  test("only the operator has statements closed at once", async () => {
    expect(await control.expect("POST", "/statements/close", { body: {} })).toEqual({ closed: [], waiting: [] });
    expect(await control.refusal("POST", "/statements/close", { body: { workspace: "w" }, as: "admin@w" })).toStartWith(
      "403 forbidden",
    );
  });

  test("the command line shows a statement as tables", async () => {
    const lines = printStatement(await show("2026-10")).split("\n");
    expect(lines[0]).toBe("number                 2026-10");
    expect(lines.find((line) => line.startsWith("theirs"))).toMatch(
      /^theirs +admin@w +sandbox\/echo +sandbox +chat +- +2 +0\.000400000$/,
    );
  });
});
