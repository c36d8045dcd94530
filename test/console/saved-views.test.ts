/** Views that members save of lists: whose they are, what the menu opens, and what is refused. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { savedViewCharactersMax, savedViewsMax } from "../../src/accounts/limits.ts";
import { savedLists } from "../../src/accounts/workspaces/schema.ts";
import { pages } from "../../src/console/pages.ts";
import { ConsoleWorld, type Browser, type Shown } from "../support/console.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

test("each list that can be saved has its page, by the same name", () => {
  const listed = pages.flatMap(({ of, path, list }) => (list === undefined ? [] : [`${of} ${path} ${list}`]));
  expect(listed.toSorted()).toEqual(savedLists.map((list) => `workspace /${list} ${list}`).toSorted());
});

describe.each(oneDatabase)("saved views on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let member: Browser;
  const base = "/console/w/acme";
  const see = async (path: string, browser = member) => (await world.get(base + path, browser)).text;
  const post = (fields: Record<string, string>, browser = member): Promise<Shown> => world.post(`${base}/views`, fields, browser);
  const save = (fields: Record<string, string>, browser = member) =>
    post({ action: "save", list: "findings", query: "severity=critical", ...fields }, browser);
  const call = (method: string, path: string, body?: object, as = "member@acme") =>
    world.control.call(method, path, { body, as });
  const views = (as = "member@acme", workspace = "acme") => world.control.list(`/views?workspace=${workspace}`, { as });
  /** What a list's page has of views: their links, and the form that saves one. */
  const bar = (text: string): string =>
    [/<summary class="button quiet">Save view.*?<\/form>/s, /<nav class="saved".*?<\/nav>/s]
      .map((part) => part.exec(text)?.[0] ?? "")
      .join("");
  const menu = (text: string): string => /<nav class="links".*?<\/nav>/s.exec(text)?.[0] ?? "";

  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    await world.control.workspace("acme");
    await world.control.workspace("other");
    await world.control.expect("POST", "/members", { body: { workspace: "other", email: "member@acme", role: "member" } });
    await database.sql`UPDATE members SET active = true, consent = 'given' WHERE email = 'member@acme'`;
    member = await world.signIn("member@acme");
  });
  afterAll(() => database[Symbol.asyncDispose]());
  beforeEach(async () => void (await database.sql`DELETE FROM saved_views`));

  test("a list offers to save what its address says, and shows nothing more until there is a view", async () => {
    expect(bar(await see("/findings"))).toBe("");
    expect(bar(await see("/findings?skip=50&severity="))).toBe("");
    const filtered = bar(await see("/findings?sort=-epss&severity=critical&skip=50&columns=vulnerability&columns=epss"));
    expect(filtered).toContain("Save view");
    expect(filtered).toContain(
      'name="query" value="columns=vulnerability&#38;columns=epss&#38;severity=critical&#38;sort=-epss"',
    );
    expect(filtered).not.toContain("<ul");
  });

  test("a saved view is a link above its list, for its member in its workspace alone", async () => {
    const saved = await save({ name: " Urgent <b>", query: "sort=-epss&severity=critical" });
    expect([saved.status, saved.headers.get("location")]).toEqual([303, `${base}/findings?severity=critical&sort=-epss`]);
    const shown = bar(await see("/findings?sort=-epss&severity=critical&skip=0"));
    expect(shown).toContain('?severity=critical&#38;sort=-epss" aria-current="page"><bdi>Urgent &#60;b&#62;</bdi>');
    expect([shown.includes("Save view"), shown.includes("All findings")]).toEqual([false, true]);
    expect(bar(await see("/findings?severity=high"))).toContain("Save view");
    expect(bar(await see("/vulnerabilities"))).toBe("");
    expect(await views()).toMatchObject([
      { list: "findings", name: "Urgent <b>", query: "severity=critical&sort=-epss", default: false },
    ]);
    for (const other of ["auditor@acme", "admin@acme"]) {
      expect(bar(await see("/findings", await world.signIn(other)))).toBe("");
      expect(await views(other)).toEqual([]);
    }
    expect(await views("member@acme", "other")).toEqual([]);
    expect(bar((await world.get("/console/w/other/findings", member)).text)).toBe("");
    expect(await see("/views", await world.signIn(null))).toContain("the operator has none");
    expect(await world.control.list("/views?workspace=acme")).toEqual([]);
  });

  test("the menu opens a list with its default view, of which there is one, and other links show all of it", async () => {
    await save({ name: "Urgent", default: "true" });
    const link = (query: string) => `href="${base}/findings${query}"`;
    const home = await see("");
    expect([menu(home).includes(link("?severity=critical")), menu(home).includes(link(""))]).toEqual([true, false]);
    const list = await see("/findings?severity=critical");
    expect(list).toContain(`${link("")}>Show all that are open</a>`);
    expect(menu(list)).toContain(`${link("?severity=critical")} aria-current="page"`);
    await save({ name: "High", query: "severity=high", default: "true" });
    expect(menu(await see(""))).toContain(link("?severity=high"));
    expect((await views()).map(({ name, default: opens }) => [name, opens])).toEqual([
      ["High", true],
      ["Urgent", false],
    ]);
    expect(menu((await world.get("/console/w/other", member)).text)).toContain('href="/console/w/other/findings"');
  });

  test("a view is renamed, becomes the default, an ordinary one again, and is deleted", async () => {
    await save({ name: "Urgent" });
    const [view] = await views();
    const id = String(view?.["id"]);
    expect(await see(`/views?open=${id}`)).toContain(`<dialog id="${id}" aria-labelledby="${id}-title" data-asks="changes" open`);
    await post({ action: "edit", id, name: "Now", default: "true" });
    expect(await views()).toMatchObject([{ id, name: "Now", query: "severity=critical", default: true }]);
    expect(await see("/views")).toContain("severity: critical");
    await post({ action: "edit", id, name: "Now" });
    expect(await views()).toMatchObject([{ id, name: "Now", default: false }]);
    await post({ action: "delete", id });
    expect(await views()).toEqual([]);
    expect(await see("/views")).toContain("No saved views yet");
  });

  test("a view of the same name takes the place of the former, stays the default, and the list takes no more than its limit", async () => {
    await save({ name: "Urgent", default: "true" });
    await save({ name: "Urgent", query: "severity=high" });
    expect(await views()).toMatchObject([{ name: "Urgent", query: "severity=high", default: true }]);
    for (let number = 1; number < savedViewsMax; number++) await save({ name: `View ${number}` });
    const refused = await save({ name: "One more" });
    expect([refused.status, refused.text.includes(`the list has ${savedViewsMax} of yours`)]).toEqual([409, true]);
    expect(refused.text).toContain('value="One more"');
    expect([
      (await save({ name: "Urgent" })).status,
      (await save({ name: "Elsewhere", list: "projects", query: "sort=open" })).status,
    ]).toEqual([303, 303]);
    expect(await views()).toHaveLength(savedViewsMax + 1);
  });

  test("two tabs that save at once keep to the limit, and leave one default", async () => {
    const numbers = Array.from({ length: savedViewsMax + 4 }, (_, number) => number);
    const answers = await Promise.all(
      numbers.map((number) =>
        call("POST", "/views", { workspace: "acme", list: "keys", name: `View ${number}`, query: "sort=name", default: true }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(savedViewsMax);
    expect((await views()).filter(({ default: opens }) => opens === true)).toHaveLength(1);
  });

  test.each([
    [{ name: "  " }, "name", "A view needs a name"],
    [{ name: "n".repeat(61) }, "name", "name"],
    [{ list: "tickets" }, "list", "list"],
    [{ query: "severity=&" }, "query", "A view needs a filter"],
    [{ query: `text=${"ä".repeat(savedViewCharactersMax / 5)}` }, "query", `at most ${savedViewCharactersMax} characters`],
    [{ query: `text=${"a".repeat(savedViewCharactersMax)}` }, "query", "query"],
  ])("the view %p is refused, and names its field", async (fields, field, cause) => {
    const body = { workspace: "acme", list: "keys", name: "Mine", query: "sort=name", ...fields };
    const answer = await call("POST", "/views", body);
    expect(answer).toMatchObject({ status: 400, body: { error: { field, message: expect.stringContaining(cause) } } });
    expect(await views()).toEqual([]);
  });

  test("a name that another view of the list has is refused in its form, and what is another's is unknown", async () => {
    await save({ name: "Urgent" });
    await save({ name: "High", query: "severity=high" });
    const id = String((await views())[0]?.["id"]);
    const refused = await post({ action: "edit", id, name: "Urgent" });
    expect([refused.status, refused.text.includes(`<p class="problem" id="of-${id}-name-problem">`)]).toEqual([409, true]);
    for (const [method, body] of [
      ["PATCH", { workspace: "acme", name: "x" }],
      ["DELETE", undefined],
    ] as const) {
      const path = `/views/${id}${method === "DELETE" ? "?workspace=acme" : ""}`;
      expect([method, (await call(method, path, body, "admin@acme")).status]).toEqual([method, 404]);
      const elsewhere = method === "DELETE" ? `/views/${id}?workspace=other` : path;
      expect((await call(method, elsewhere, body && { ...body, workspace: "other" })).status).toBe(404);
    }
    expect(await views()).toHaveLength(2);
  });

  test("a deleted account leaves no views", async () => {
    const email = "leaver@acme";
    await world.control.expect("POST", "/members", { body: { workspace: "acme", email, role: "member" } });
    await database.sql`UPDATE members SET active = true, consent = 'given' WHERE email = ${email}`;
    await save({ name: "Urgent" }, await world.signIn(email));
    await save({ name: "Urgent" });
    await world.control.expect("POST", `/accounts/${email}/delete`, { body: {} });
    expect(await database.sql`SELECT email FROM saved_views`).toEqual([{ email: "member@acme" }] as never);
  });
});
