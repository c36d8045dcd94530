/** Products group projects: creating and listing products, and moving projects between them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { oneDatabase } from "../../support/servers/databases.ts";
import { openShop, rowsOf, type Shop } from "../../support/security/shop.ts";

const nobody = "2".repeat(26);
const none = { critical: 0, high: 0, medium: 0, low: 0, unknown: 0, total: 0 };

describe.each(oneDatabase)("products on $name", ({ open }) => {
  let stage: Shop;
  beforeAll(async () => {
    stage = await openShop(open);
  }, 60_000);
  afterAll(() => stage[Symbol.asyncDispose]());

  describe("products", () => {
    test("are listed by name, with projects, SBOMs, counts and posture", async () => {
      const data = await stage.api.data("list_products", { name: "suite" });
      expect(data).toEqual({
        products: [
          {
            id: stage.product,
            name: "suite",
            projects_count: 1,
            sboms_count: 1,
            vulnerability_counts: { ...none, high: 1, total: 1 },
            posture: "D",
          },
        ],
        total: 1,
        limit: 50,
        offset: 0,
        has_more: false,
      });
    });

    test("have the posture of their most severe live finding, and none before a scan", async () => {
      const postureOf = async () => rowsOf(await stage.api.data("list_products", { name: "suite" }), "products")[0]?.["posture"];
      for (const [rank, posture] of [
        [4000, "F"],
        [3075, "D"],
        [2000, "C"],
        [1000, "B"],
        [0, "B"],
      ] as const) {
        await stage.database.sql`UPDATE findings SET rank = ${rank} WHERE project_id = ${stage.project}`;
        expect(await postureOf()).toBe(posture);
      }
      await stage.database.sql`UPDATE findings SET rank = 3075, status = 'ignored' WHERE project_id = ${stage.project}`;
      expect(await postureOf()).toBe("A");
      await stage.database.sql`UPDATE findings SET status = 'open' WHERE project_id = ${stage.project}`;
      const { posture } = await stage.api.data("create_product", { name: "empty" });
      expect(posture).toBeNull();
    });

    test("are created once for each name", async () => {
      const created = await stage.api.data("create_product", { name: "Once" });
      expect(created).toMatchObject({ name: "Once", projects_count: 0, sboms_count: 0, vulnerability_counts: none });
      const sentence = await stage.api.refusal("create_product", { name: "Once" });
      expect(sentence).toBe(`There is a product "Once" already, with the id "${String(created["id"])}"`);
      const theirs = await stage.api.data("create_product", { name: "Once" }, { key: stage.theirs });
      expect(theirs["id"]).not.toBe(created["id"]);
    });

    test.each([[{ name: `prd_${nobody}` }, `Cannot call a product "prd_${nobody}": the name looks like an id`]])(
      "are not created from %j",
      async (body, sentence) => {
        expect(await stage.api.refusal("create_product", body)).toStartWith(sentence);
      },
    );

    test("of another workspace are not listed", async () => {
      const data = await stage.api.data("list_products", {}, { key: stage.theirs });
      expect(rowsOf(data, "products").map(({ name }) => name)).toEqual(["Once"]);
    });
  });

  describe("update_project", () => {
    test("update_project moves a project with its findings, and writes one audit row", async () => {
      const { id: shelf } = await stage.api.data("create_product", { name: "shelf" });
      const audits = async () => (await stage.control.list("/audit?workspace=w&event=project.updated")).length;
      const before = await audits();
      for (const target of [shelf, shelf, null, stage.product]) {
        const data = await stage.api.data("update_project", { project_id: stage.project, product_id: target });
        expect(data).toMatchObject({ id: stage.project, product_id: target, vulnerability_counts: { total: 1 } });
        const rows = await stage.database.sql`SELECT DISTINCT product_id FROM findings WHERE project_id = ${stage.project}`;
        expect(rows.map((row) => row["product_id"])).toEqual([target]);
      }
      expect((await audits()) - before).toBe(3);
      const [row] = await stage.control.list("/audit?workspace=w&event=project.updated");
      expect(row).toMatchObject({ actor: "member@w", role: "member", carried_by: "tools key", target: stage.project });
    });
  });
});
