/** Refused calls beside the log: on Requests, on Home, and on pages of their own; and what an error's page says. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { problemBox } from "../../src/console/pages/inference/problem-box.ts";
import { RefusedCalls, type RefusedCall } from "../../src/gateway/refusals/refused-calls.ts";
import { endingCodes, errorTable } from "../../src/kernel/errors.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { ManualClock } from "../support/clock.ts";
import { ConsoleWorld, type Browser } from "../support/console.ts";
import { book, settlement } from "../support/gateway/settlements.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

const eleven = Date.UTC(2026, 10, 20, 11);

describe.each(oneDatabase)("refused calls in the Console on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  const browsers: Record<"member" | "auditor" | "admin" | "operator", Browser> = Object.create(null);
  const keys: Record<"mine" | "theirs", string> = Object.create(null);

  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    const workspace = await world.control.workspace("mixed", "10");
    for (const role of ["member", "auditor", "admin"] as const) browsers[role] = await world.signIn(`${role}@mixed`);
    browsers.operator = await world.signIn(null);
    keys.mine = (await world.control.key("mixed", { name: "mine ‮evil" })).id;
    keys.theirs = (await world.control.key("mixed", { owner: "admin@mixed" })).id;
    // One answered, one refused, and so on, a second apart; each tenth answer failed.
    const settled = Array.from({ length: 60 }, (_, nth) =>
      settlement({
        workspace,
        key: nth % 2 === 0 ? keys.mine : keys.theirs,
        admittedAt: eleven + nth * 2_000,
        ...(nth % 10 === 9 && { status: 502, code: "upstream_error" }),
      }),
    );
    await book(database.sql, ...settled);
    const clock = new ManualClock(eleven);
    const calls = new RefusedCalls({ sql: database.sql, clock, log: silentLog });
    for (let nth = 0; nth < 60; nth++) {
      clock.advance(1_000);
      calls.note(refusal(workspace, nth % 2 === 0 ? keys.mine : keys.theirs, nth));
      await calls.flushed(10_000);
      clock.advance(1_000);
    }
    await world.control.workspace("other", "10");
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const page = async (query: string, browser = browsers.admin, path = "/requests") => {
    const { text, status } = await world.get(`/console/w/mixed${path}${query}`, browser);
    expect([path + query, status]).toEqual([path + query, 200]);
    return text;
  };
  /** The ids of the listed requests, in their order. */
  const idsIn = (text: string): string[] =>
    [...text.matchAll(/\/requests\/(?:refused\/)?((?:gen|req)-[a-z2-7]{26})"/g)].map(([, id = ""]) => id);
  const nextIn = (text: string): string | null =>
    /href="[^"]*\?([^"]*)" rel="next"/.exec(text)?.[1]?.replaceAll("&#38;", "&") ?? null;
  const walk = async (query: string, browser = browsers.admin): Promise<string[]> => {
    const ids: string[] = [];
    for (let next: string | null = query; next !== null;) {
      const text = await page(`?${next}`, browser);
      ids.push(...idsIn(text));
      next = nextIn(text);
    }
    return ids;
  };
  const byTime = (ids: string[]): string[] => ids.toSorted((one, other) => (one.slice(4) < other.slice(4) ? 1 : -1));

  test("All lists both by their time, and its pages neither lose nor repeat one", async () => {
    const ids = await walk("");
    expect([ids.length, new Set(ids).size]).toEqual([120, 120]);
    expect(ids).toEqual(byTime(ids));
    expect(ids.slice(0, 4).map((id) => id.slice(0, 3))).toEqual(["req", "gen", "req", "gen"]);
    expect(await page("")).toContain('<a href="/console/w/mixed/requests" aria-current="page">All</a>');
  });

  test("Answered, Failed and Refused list their own, and keep the other filters", async () => {
    const kinds = async (status: string) => new Set((await walk(`status=${status}`)).map((id) => id.slice(0, 3)));
    expect((await walk("status=ok")).length).toBe(54);
    expect((await walk("status=error")).length).toBe(6);
    expect((await walk("status=refused")).length).toBe(60);
    expect([await kinds("ok"), await kinds("refused")]).toEqual([new Set(["gen"]), new Set(["req"])]);
    expect(await page(`?status=error&key=${keys.mine}`)).toContain(`/requests?key=${keys.mine}&#38;status=refused"`);
    expect((await walk("code=rate_limited")).length).toBe(20);
    expect((await walk("code=upstream_error")).length).toBe(6);
    expect((await walk(`status=refused&code=rate_limited&key=${keys.mine}`)).length).toBe(10);
    expect(await walk("status=refused&endpoint=embeddings")).toEqual([]);
    expect((await walk("endpoint=count_tokens")).map((id) => id.slice(0, 3))).toEqual(Array.from({ length: 20 }, () => "req"));
    expect(await page("?status=refused&model=none")).toContain("No request matches these filters");
  });

  test("the list of the refused begins with how often each code was, of the chosen key", async () => {
    const rows = (text: string) =>
      [...text.matchAll(/<code>(\w+)<\/code>[^]*?data-label="Last 24 hours">(\d+)[^]*?data-label="Last 31 days">(\d+)/g)].map(
        ([, ...cells]) => cells.join(" "),
      );
    const all = ["invalid_request 20 20", "model_not_found 20 20", "rate_limited 20 20"];
    expect(rows(await page("?status=refused")).toSorted()).toEqual(all);
    expect(rows(await page(`?status=refused&key=${keys.mine}`))).toContain("rate_limited 10 10");
    expect(rows(await page(""))).toEqual([]);
  });

  test("a member sees what their keys were refused, and an auditor all", async () => {
    expect((await walk("status=refused", browsers.member)).length).toBe(30);
    expect((await walk("status=refused", browsers.auditor)).length).toBe(60);
    expect((await walk("", browsers.member)).length).toBe(60);
  });

  test("the file of the refused has what callers were told", async () => {
    const { text } = await world.get("/console/w/mixed/requests?status=refused&as=csv", browsers.admin);
    const [head = "", first = "", ...rest] = text.trimEnd().split("\r\n");
    expect([head.split(",").includes("message"), rest.length]).toEqual([true, 59]);
    expect(first).toContain("There is no model with the id …");
  });

  test("a refused request's page says what happened, why, what to do and how often, and charges nothing", async () => {
    const [newest = "", second = ""] = await walk("status=refused");
    const limited = await page(`/refused/${second}`);
    for (const words of ["429 refused", "Too many requests", "60 requests per minute", "to wait 2.4 s", `/keys/${keys.mine}"`])
      expect(limited).toContain(words);
    expect(limited).toContain('href="/reference/inference#error-rate_limited"');
    expect(limited).toContain("No provider was called, and nothing was charged");
    expect(limited).toContain("<bdi>mine ‮evil</bdi>");
    expect(limited).toContain(`?status=refused&#38;code=rate_limited&#38;key=${keys.mine}"`);
    expect(await page(`/refused/${newest}`)).toContain("There is no such model");
    expect(await page(`/refused/${newest}`)).toMatch(
      new RegExp(`id="share-link"[^>]* value="https://weir\\.example\\.com/console/w/ws-\\w+/requests/refused/${newest}"`),
    );
    expect(await page("", browsers.member, `/keys/${keys.mine}`)).toContain(">30 refused</a> in the last 24 hours");
  });

  test("another member's refused request, and one of another workspace, is not found", async () => {
    const [theirs = "", mine = ""] = await walk("status=refused");
    const statusOf = async (path: string, browser: Browser) => (await world.get(path, browser)).status;
    expect(await statusOf(`/console/w/mixed/requests/refused/${theirs}`, browsers.member)).toBe(404);
    expect(await statusOf(`/console/w/mixed/requests/refused/${mine}`, browsers.member)).toBe(200);
    expect(await statusOf(`/console/w/other/requests/refused/${mine}`, await world.signIn("admin@other"))).toBe(404);
    expect(await statusOf(`/console/w/other/requests/refused/${mine}`, browsers.operator)).toBe(404);
    expect(await statusOf(`/console/w/mixed/requests/refused/req-${"2".repeat(26)}`, browsers.admin)).toBe(404);
  });

  test("a failed request's page begins with what it means, and an answered one's does not", async () => {
    const [failed = ""] = await walk("status=error");
    const text = await page(`/${failed}`);
    expect(text.indexOf("The provider failed")).toBeLessThan(text.indexOf('class="facts"'));
    expect(text).toContain("The provider that was called last is");
    const [answered = ""] = await walk("status=ok");
    expect(await page(`/${answered}`)).not.toContain("problem-box");
  });

  test("Home counts all kinds, and lists the newest of both", async () => {
    const text = await page("", browsers.admin, "");
    for (const [count, status] of [
      ["54 answered", "ok"],
      ["6 failed", "error"],
      ["60 refused", "refused"],
    ])
      expect(text).toContain(`<a href="/console/w/mixed/requests?status=${status}">${count}</a>`);
    expect(new Set(idsIn(text).map((id) => id.slice(0, 3)))).toEqual(new Set(["req", "gen"]));
  });

  test("a workspace whose requests were all refused sees them on Home, and that it has no answer yet", async () => {
    const workspace = await world.control.workspace("stuck", "10");
    const { id: key } = await world.control.key("stuck");
    const calls = new RefusedCalls({ sql: database.sql, clock: new ManualClock(eleven), log: silentLog });
    calls.note(refusal(workspace, key, 0));
    await calls.flushed(10_000);
    const text = (await world.get("/console/w/stuck", await world.signIn("member@stuck"))).text;
    for (const words of ["0 answered", "1 refused", "Send a first request", "400 refused"]) expect(text).toContain(words);
  });
});

/** Each third is too frequent, has an unknown model, or is a count of tokens whose field is wrong. */
function refusal(workspace: string, key: string, nth: number): RefusedCall {
  const shared = { workspace, key, endpoint: "chat", model: null, param: null, retryAfterMs: null } as const;
  if (nth % 3 === 1) {
    const message = "Too many requests for this key: it may make 60 requests per minute";
    return { ...shared, code: "rate_limited", status: 429, message, model: "acme/one", retryAfterMs: 2_400 };
  }
  if (nth % 3 === 2)
    return { ...shared, code: "model_not_found", status: 404, message: "There is no model with the id …", param: "model" };
  return {
    ...shared,
    endpoint: "count_tokens",
    code: "invalid_request",
    status: 400,
    message: "messages is required",
    param: "messages",
  };
}

describe("the box of an error", () => {
  const codes = [...new Set<string>([...Object.keys(errorTable), ...endingCodes])];
  const call = { link: (path: string) => `/console/w/acme${path}`, offers: () => true };
  const box = (code: string, parts: object = {}) => {
    const row = (errorTable as Record<string, { status: number }>)[code];
    const problem = { code, status: row?.status ?? 499, cause: null, key: "key-1", model: "acme/one", retryAfterMs: null };
    return String(problemBox({ ...problem, ...parts }, call));
  };

  test.each(codes)("of %s has a meaning, a next step, and a place in the reference where the API has the code", (code) => {
    const text = box(code);
    expect(text).toMatch(/<h2 id="problem-title">[A-Z][^<]{8,}<\/h2>\s*<p>[A-Z][^<]{20,}\.<\/p>/);
    expect(text).toMatch(/<b>Next step:<\/b> \S.{8,}<\/p>/);
    expect(text.includes("/reference/inference#error-")).toBe(code !== "client_gone");
    expect(text).not.toContain("does not know the code");
  });

  test("shows a cause as text, and a code of a later version without words", () => {
    expect(box("rate_limited", { cause: "<b>x</b>" })).toContain("&#60;b&#62;x&#60;/b&#62;");
    expect(box("of_tomorrow")).toContain("does not know the code");
    expect(box("toString")).toContain("does not know the code");
  });

  test("leads to no page that the viewer may not see", () => {
    const text = String(
      problemBox(
        { code: "account_spend_limit_exceeded", status: 402, cause: null, key: null, model: null, retryAfterMs: null },
        { ...call, offers: () => false },
      ),
    );
    expect([text.includes("Settings"), text.includes("/settings")]).toEqual([true, false]);
  });
});
