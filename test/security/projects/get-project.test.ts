/** `get_project`: the components of a project, the paths to them, and their vulnerabilities. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { oneDatabase } from "../../support/servers/databases.ts";
import { objectOf } from "../../support/control.ts";
import { openShop, rowsOf, shop, type Shop } from "../../support/security/shop.ts";

const none = { critical: 0, high: 0, medium: 0, low: 0, unknown: 0, total: 0 };

describe.each(oneDatabase)("a project on $name", ({ open }) => {
  let stage: Shop;
  beforeAll(async () => {
    stage = await openShop(open);
  }, 60_000);
  afterAll(() => stage[Symbol.asyncDispose]());

  describe("get_project", () => {
    test("get_project shows the components, the paths to them, and whether they can be matched", async () => {
      const data = await stage.api.data("get_project", { project_id: stage.project });
      const known = { match: { state: "known", reason: null } };
      const notMatched = (reason: string) => ({ ecosystem: null, match: { state: "not_matched", reason } });
      const shown = {
        type: "library",
        licenses: [],
        ecosystem: "npm",
        scope: null,
        relation: "unknown",
        path: [],
        vulnerabilities: 0,
      };
      const row = (name: string, version: string | null, purl: string | null, more: object = {}) => ({
        ...shown,
        name,
        version,
        purl,
        match: expect.objectContaining({ state: "unknown", reason: expect.any(String) }),
        ...more,
      });
      const items = [
        row("express", "4.0.0", "pkg:npm/express@4.0.0", { ...known, relation: "direct", path: ["shop", "express"] }),
        row("lodash", "4.17.20", "pkg:npm/lodash@4.17.20", {
          ...known,
          relation: "transitive",
          path: ["shop", "express", "lodash"],
          vulnerabilities: 1,
        }),
        row("lodash", "latest", "pkg:npm/lodash@latest"),
        row("zlib", "1.2", "pkg:deb/debian/zlib@1.2", notMatched("there are no advisories for its kind of package")),
        row("left", null, null, notMatched("it has no package URL")),
        row("lodash", null, "pkg:npm/lodash"),
      ];
      expect(data["components"]).toEqual({ total: 6, items });
    });

    test("get_project shows live vulnerabilities, unknown matches with reasons, and metrics", async () => {
      const { components: _, ...data } = await stage.api.data("get_project", { project_id: stage.project });
      expect(data).toEqual({
        id: stage.project,
        name: "shop",
        provider: "upload",
        product_id: stage.product,
        scan_status: "completed",
        scan_queue_position: null,
        last_scanned_at: expect.stringMatching(/Z$/),
        vulnerability_counts: { ...none, high: 1, total: 1 },
        components_not_compared: 4,
        findings_left_out: 0,
        repository: null,
        scan_failure: null,
        created_at: expect.stringMatching(/Z$/),
        sbom: {
          id: expect.stringMatching(/^sbom_/),
          format: "CycloneDX",
          spec_version: "1.6",
          name: "shop",
          filename: "shop.json",
          warnings: [],
          uploaded_at: expect.stringMatching(/Z$/),
        },
        vulnerabilities: {
          total: 1,
          items: [
            {
              cve_id: "CVE-2020-1",
              severity: "high",
              cvss_score: 7.5,
              affected_component: "lodash@4.17.20",
              affected_project: "shop",
              fix_version: "4.17.21",
              description: "An issue",
              ecosystem: "npm",
              affected_components_count: 1,
              affected_projects_count: 1,
            },
          ],
        },
        unknown_matches: { total: 4, items: expect.any(Array) },
        metrics: {
          components: 6,
          vulnerable_components: 1,
          findings_open: 1,
          findings_in_progress: 0,
          findings_ignored: 0,
          findings_not_affected: 0,
          findings_resolved: 0,
          false_positives: 0,
          fixable: 1,
          advisories_updated_at: expect.stringMatching(/Z$/),
          coverage: [
            {
              ecosystem: "npm",
              components: 4,
              not_compared: 2,
              unreadable_purls: 0,
              advisories_updated_at: expect.stringMatching(/Z$/),
              incomplete: false,
              stale: true,
            },
            {
              ecosystem: null,
              components: 2,
              not_compared: 2,
              unreadable_purls: 0,
              advisories_updated_at: null,
              incomplete: false,
              stale: false,
            },
          ],
        },
      });
      expect(rowsOf(objectOf(data["unknown_matches"]), "items")[0]).toEqual({
        component: "lodash",
        version: "",
        cve_id: "CVE-2020-1",
        reason: expect.stringContaining("CVE-2020-1"),
      });
    });

    test("get_project counts neither ignored findings nor false positives", async () => {
      for (const [status, falsePositive] of [
        ["ignored", false],
        ["not_affected", false],
        ["open", true],
      ] as const) {
        await stage.database
          .sql`UPDATE findings SET status = ${status}, false_positive = ${falsePositive} WHERE project_id = ${stage.project}`;
        const data = await stage.api.data("get_project", { project_id: stage.project });
        expect(data["vulnerability_counts"]).toEqual(none);
        expect(data["vulnerabilities"]).toEqual({ items: [], total: 0 });
      }
      await stage.database.sql`UPDATE findings SET status = 'open', false_positive = false WHERE project_id = ${stage.project}`;
    });

    test("get_project shows the last steps of a long path", async () => {
      const chain = Array.from({ length: 90 }, (_, index) => `c${String(index).padStart(2, "0")}`);
      const components = chain.map((ref) => ({
        type: "library",
        "bom-ref": ref,
        name: ref,
        version: "1",
        purl: `pkg:npm/${ref}@1`,
      }));
      const dependencies = chain.map((ref, index) => ({ ref: index === 0 ? "app" : (chain[index - 1] ?? ""), dependsOn: [ref] }));
      const { project_id: id } = await stage.api.data("upload_sbom", {
        sbom: { ...shop, components, dependencies },
        project: "deep",
      });
      const data = await stage.api.data("get_project", { project_id: id });
      const items = rowsOf(objectOf(data["components"]), "items");
      expect(items[10]?.["path"]).toEqual(["shop", ...chain.slice(0, 11)]);
      expect(items[89]?.["path"]).toEqual(["…", ...chain.slice(26)]);
    });
  });
});
