import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { silentLog } from "../../../src/kernel/log.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { newGenerationId } from "../../../src/kernel/ids.ts";
import { PromptQueue } from "../../../src/gateway/prompts/prompt-queue.ts";
import { Control } from "../../support/control.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { Weir } from "../../support/weir.ts";

const noon = Date.UTC(2026, 10, 20, 12);

describe.each(oneDatabase)("stored prompts on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  let weir: Weir;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    weir = new Weir(control);
    for (const name of ["w", "v"]) {
      await control.workspace(name);
      await control.expect("PATCH", `/workspaces/${name}`, { body: { prompt_storage: true } });
    }
  }, 60_000);
  afterAll(async () => {
    await weir[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  /** Stores a prompt like a gateway. @returns its generation */
  async function store(
    workspace: string,
    { text = "Hello", at = noon, answerCut = false, parameters = {} } = {},
  ): Promise<string> {
    const { id } = await control.expect("GET", `/workspaces/${workspace}`);
    const queue = new PromptQueue({ sql: database.sql, keyring: control.keyring, clock: systemClock, log: silentLog });
    const generation = newGenerationId(at);
    const messages = [{ role: "user", content: text }];
    const answer = { content: `${text} back` };
    queue.add({ generation, workspace: String(id), at, messages, parameters, answer, answerCut }, 100);
    await queue.flushed(10_000);
    return generation;
  }
  const audits = async (event: string, target: string) =>
    (await control.list(`/audit?event=${event}`)).filter((row) => row["target"] === target);
  const none = (id: string) => `weir: There is no stored prompt of a generation with the id "${id}"`;

  test("admins, super admins and the operator may read a stored prompt with its answer, and each access is recorded", async () => {
    const parameters = { seed: 7, tools: [{ type: "function", function: { name: "weather" } }] };
    const id = await store("w", { text: "What is a weir?", answerCut: true, parameters });
    for (const as of [["--as", "admin@w"], ["--as", "super_admin@w"], []]) {
      expect(await weir.json("prompt", "show", "--id", id, ...as)).toEqual({
        generation_id: id,
        workspace_id: expect.stringMatching(/^ws-/),
        at: "2026-11-20T12:00:00.000Z",
        messages: [{ role: "user", content: "What is a weir?" }],
        parameters,
        answer: { content: "What is a weir? back" },
        answer_cut: true,
      });
    }
    expect((await audits("prompt.shown", id)).map(({ actor, role, carried_by }) => [actor, role, carried_by])).toEqual([
      ["operator", "operator", null],
      ["super_admin@w", "super_admin", "operator token"],
      ["admin@w", "admin", "operator token"],
    ]);
  });

  test("members and auditors may neither read nor delete stored prompts", async () => {
    const id = await store("w");
    for (const role of ["member", "auditor"]) {
      const as = ["--as", `${role}@w`];
      for (const words of [
        ["show", "--id", id],
        ["delete", "--id", id],
        ["delete", "--workspace", "w", "--before", "2030-01-01T00:00:00Z"],
      ]) {
        expect(await weir.refusal("prompt", ...words, ...as)).toContain(`as ${role}: it requires the role admin or super_admin`);
      }
    }
    expect(await weir.json("prompt", "show", "--id", id)).toMatchObject({ generation_id: id });
    expect(await audits("prompt.deleted", id)).toEqual([]);
  });

  test("a stored prompt does not exist for another workspace", async () => {
    const id = await store("w");
    for (const verb of ["show", "delete"]) {
      for (const as of [["--as", "admin@v"], []]) {
        expect(await weir.refusal("prompt", verb, "--id", id, "--workspace", "v", ...as)).toBe(none(id));
      }
      expect(await weir.refusal("prompt", verb, "--id", id, "--as", "admin@v")).toBe(none(id));
    }
    await weir.json("prompt", "delete", "--workspace", "v", "--before", "2030-01-01T00:00:00Z", "--as", "admin@v");
    expect(await weir.json("prompt", "show", "--id", id)).toMatchObject({ generation_id: id });
  });

  test("a stored prompt can only be unsealed for its own workspace and generation, so a moved row is not shown", async () => {
    const [one, other] = [await store("w", { text: "one" }), await store("w", { text: "other" })];
    await database.sql`
      UPDATE stored_prompts SET messages = (SELECT messages FROM stored_prompts WHERE generation_id = ${one})
      WHERE generation_id = ${other}`;
    expect(await weir.refusal("prompt", "show", "--id", other)).toContain("cannot be opened");
    expect(await audits("prompt.shown", other)).toEqual([]);
  });

  test("a deletion of one prompt is recorded", async () => {
    const [gone, kept] = [await store("w"), await store("w")];
    expect(await weir.json("prompt", "delete", "--id", gone, "--as", "admin@w")).toEqual({ deleted: 1 });
    expect(await weir.refusal("prompt", "show", "--id", gone)).toBe(none(gone));
    expect(await weir.refusal("prompt", "delete", "--id", gone)).toBe(none(gone));
    expect(await weir.json("prompt", "show", "--id", kept)).toMatchObject({ generation_id: kept });
    expect(await audits("prompt.deleted", gone)).toMatchObject([{ actor: "admin@w", role: "admin", changes: {} }]);
  });

  test("a deletion before a time keeps later prompts, and is recorded with its count", async () => {
    const { id: workspace } = await control.expect("POST", "/workspaces", { body: { name: `past-${crypto.randomUUID()}` } });
    const place = String(workspace);
    await control.expect("PATCH", `/workspaces/${place}`, { body: { prompt_storage: true } });
    const [early, late] = [await store(place, { at: noon - 1 }), await store(place, { at: noon })];
    const before = ["--workspace", place, "--before", "2026-11-20T12:00:00Z"];
    expect(await weir.json("prompt", "delete", ...before)).toEqual({ deleted: 1 });
    expect(await weir.json("prompt", "delete", ...before)).toEqual({ deleted: 0 });
    expect(await weir.refusal("prompt", "show", "--id", early)).toBe(none(early));
    expect(await weir.json("prompt", "show", "--id", late)).toMatchObject({ generation_id: late });
    expect(await audits("prompts.deleted", place)).toMatchObject([
      { changes: { before: { from: null, to: "2026-11-20T12:00:00.000Z" }, deleted: { from: null, to: 1 } } },
    ]);
  });

  test("stored prompts stay when storage is switched off, until they are deleted", async () => {
    const id = await store("w");
    await control.expect("PATCH", "/workspaces/w", { body: { prompt_storage: false } });
    const later = await store("w");
    expect(await weir.json("prompt", "show", "--id", id)).toMatchObject({ generation_id: id });
    expect(await weir.refusal("prompt", "show", "--id", later)).toBe(none(later));
    await control.expect("PATCH", "/workspaces/w", { body: { prompt_storage: true } });
  });

  test.each([
    [{}, "before"],
    [{ workspace: "w" }, "before"],
    [{ before: "2026-11-20T12:00:00Z" }, "before"],
    [{ id: `gen-${"a".repeat(26)}`, before: "2026-11-20T12:00:00Z", workspace: "w" }, "id"],
    [{ workspace: "w", before: "yesterday" }, "before"],
    [{ workspace: "w", before: "2026-11-20T12:00:00" }, "before"],
    [{ workspace: "w", before: "2026-13-45T12:00:00Z" }, "before"],
    [{ workspace: "w", before: "2026-11-20" }, "before"],
    [{ id: "gen-1" }, "id"],
  ])("the API refuses an incomplete deletion: %p", async (body, field) => {
    expect(await control.refusal("POST", "/prompts/delete", { body })).toBe(`400 invalid_field ${field}`);
  });
});
