/** `list_projects`, and the active scope. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { oneDatabase } from "../../support/servers/databases.ts";
import { openShop, rowsOf, type Shop } from "../../support/security/shop.ts";

const none = { critical: 0, high: 0, medium: 0, low: 0, unknown: 0, total: 0 };

describe.each(oneDatabase)("lists of projects on $name", ({ open }) => {
  let stage: Shop;
  beforeAll(async () => {
    stage = await openShop(open);
  }, 60_000);
  afterAll(() => stage[Symbol.asyncDispose]());

  describe("list_projects", () => {
    const names = async (body: object = {}, key?: string) =>
      rowsOf(await stage.api.data("list_projects", body, key === undefined ? {} : { key }), "projects").map(({ name }) => name);

    test("list_projects sorts by name, with id, provider, state of the scan and counts", async () => {
      const data = await stage.api.data("list_projects");
      expect(rowsOf(data, "projects").map(({ name }) => name)).toEqual(["alone", "shop"]);
      expect(data).toMatchObject({ total: 2, limit: 20, offset: 0, has_more: false });
      expect(rowsOf(data, "projects")[1]).toEqual({
        id: stage.project,
        name: "shop",
        provider: "upload",
        product_id: stage.product,
        scan_status: "completed",
        scan_queue_position: null,
        last_scanned_at: expect.any(String),
        vulnerability_counts: { ...none, high: 1, total: 1 },
        components_not_compared: 4,
        findings_left_out: 0,
      });
    });

    test("list_projects finds only an exact name", async () => {
      expect(await names({ name: "shop" })).toEqual(["shop"]);
      for (const name of ["sho", "Shop", " shop"]) expect(await names({ name })).toEqual([]);
    });

    test("list_projects has each project on one page, and echoes the limit that it uses", async () => {
      expect(await names({ limit: 1, offset: 1 })).toEqual(["shop"]);
      expect(await names({ offset: 2 })).toEqual([]);
      expect(await stage.api.data("list_projects", { limit: 100_000 })).toMatchObject({ limit: 200, total: 2 });
    });

    test("list_projects shows no project of another workspace", async () => {
      expect(await names({}, stage.theirs)).toEqual([]);
    });
  });

  describe("the active scope", () => {
    test("the active scope limits the lists of one key to a product or a project", async () => {
      const key = await stage.key();
      const listed = async (operation: string, plural: string) =>
        rowsOf(await stage.api.data(operation, {}, { key }), plural).map(({ name }) => name);
      expect(await stage.api.data("set_active_scope", { kind: "product", id: stage.product }, { key })).toEqual({
        kind: "product",
        id: stage.product,
      });
      expect(await listed("list_projects", "projects")).toEqual(["shop"]);
      expect(await listed("list_products", "products")).toEqual(["suite"]);
      const [{ id: alone } = {}] = rowsOf(await stage.api.data("list_projects", { name: "alone" }), "projects");
      await stage.api.data("set_active_scope", { kind: "project", id: alone }, { key });
      expect(await stage.api.data("get_active_scope", {}, { key })).toEqual({ kind: "project", id: alone });
      expect(await listed("list_projects", "projects")).toEqual(["alone"]);
      expect(await listed("list_products", "products")).toEqual([]);
      await stage.api.data("set_active_scope", { kind: "project", id: stage.project }, { key });
      expect(await listed("list_products", "products")).toEqual(["suite"]);
      await stage.api.data("set_active_scope", { kind: "workspace" }, { key });
      expect((await listed("list_projects", "projects")).length).toBe(2);
      expect(await stage.api.data("get_active_scope")).toEqual({ kind: "workspace", id: null });
    });

    test("the active scope cannot be a product or project of another workspace", async () => {
      for (const [kind, id] of [
        ["project", stage.project],
        ["product", stage.product],
      ]) {
        const sentence = await stage.api.refusal("set_active_scope", { kind, id }, { key: stage.theirs });
        expect(sentence).toBe(`There is no ${kind} with the id "${id}"`);
      }
    });
  });
});
