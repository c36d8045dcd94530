/** A parsed SBOM becomes the current one of a project, whole or not at all. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Actor } from "../../../src/accounts/audit/actor.ts";
import { type SbomToStore, storeSbom } from "../../../src/security/projects/store-sbom.ts";
import { readSbom } from "../../../src/security/sboms/read-sbom.ts";
import { toSbomRows } from "../../../src/security/sboms/sbom-rows.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { Control } from "../../support/control.ts";
import { failureOf } from "../../support/failure-of.ts";
import { bomJson } from "../../support/security/sbom-documents.ts";

const actor: Actor = { kind: "member", email: "member@w", role: "member", carriedBy: "tools key" };
const bytesOf = (value: unknown) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
const storable = (value: unknown) => toSbomRows(readSbom(bytesOf(value)));
/** A different SBOM for each number. */
const bom = (nonce: number) => ({ ...bomJson("1.5"), version: nonce });

test("a Go module of a later major version is the one that Syft's package URL means, with its version from either field", () => {
  const written = [
    { name: "github.com/fld/token/v5", version: "v5.2.1", purl: "pkg:golang/github.com/fld/token@v5.2.1#v5" },
    { name: "github.com/fld/other/v3", version: "v3.0.0", purl: "pkg:golang/github.com/fld/other#v3" },
  ];
  const components = written.map((component) => ({ type: "library", ...component }));
  const { packages } = storable({ bomFormat: "CycloneDX", specVersion: "1.6", components });
  expect(packages.map(({ name }) => name).toSorted()).toEqual(["github.com/fld/other/v3", "github.com/fld/token/v5"]);
});

test("20,000 spellings of one version are one version of the package, and not too many", () => {
  const spelling = (index: number) => `${"0".repeat(index % 200)}1${".0".repeat(Math.floor(index / 200))}`;
  const components = Array.from({ length: 20_000 }, (_, index) => {
    return { type: "library", name: "x", version: spelling(index), purl: `pkg:pypi/x@${spelling(index)}` };
  });
  const { packages, ecosystems } = storable({ bomFormat: "CycloneDX", specVersion: "1.6", components });
  expect([packages, ecosystems]).toEqual([
    [{ ecosystem: "PyPI", name: "x" }],
    [{ ecosystem: "PyPI", components: 20_000, unreadable: 0 }],
  ]);
});

describe.each(oneDatabase)("stored SBOMs on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  let workspace: string;
  let waiting = 0;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    workspace = await control.workspace("w");
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const store = (project: string, value: unknown, more: Partial<SbomToStore> = {}) =>
    storeSbom(
      { actor, workspace, project, product: null, origin: null, filename: null, sbom: storable(value), ...more },
      { sql: database.sql, clock: control.clock, notify: () => void waiting++ },
    );
  const refusal = async (storing: Promise<unknown>) => messageOf(await failureOf(storing));
  const count = async (table: string) =>
    Number((await database.sql.unsafe<{ count: bigint }[]>(`SELECT count(*) AS count FROM ${table}`))[0]?.count);
  const counts = async () =>
    Promise.all(["products", "projects", "sboms", "sbom_components", "sbom_edges", "audit_events"].map(count));

  test("have every component, its path and the dependencies", async () => {
    const stored = await store("whole", bomJson("1.6"), { filename: "bom.json" });
    expect(stored).toEqual({
      sbom_id: expect.stringMatching(/^sbom_[2-7a-z]{26}$/),
      project_id: expect.stringMatching(/^prj_[2-7a-z]{26}$/),
      format: "CycloneDX",
      spec_version: "1.6",
      components: 3,
      components_not_compared: 3,
      warnings: [],
      scan_status: "pending",
    });
    const rows = await database.sql`
      SELECT position, ref, c.name, version, purl, ecosystem, key, relation, via, licenses
      FROM sbom_components c LEFT JOIN packages p ON p.id = package_id WHERE sbom_id = ${stored.sbom_id} ORDER BY position`;
    const own = { ecosystem: null, key: null, purl: null };
    expect([...rows]).toEqual([
      { ...own, position: 0, ref: "app", name: "app", version: "1.0.0", relation: "root", via: null, licenses: [] },
      { ...own, position: 1, ref: "inner", name: "inner <&> é", version: "0", relation: "transitive", via: 3, licenses: ["Own"] },
      {
        position: 2,
        ref: "left",
        name: "@scope/left",
        version: "1.2.3",
        purl: "pkg:npm/%40scope/left@1.2.3",
        ecosystem: "npm",
        key: "@scope/left",
        relation: "direct",
        via: 0,
        licenses: ["MIT"],
      },
      {
        position: 3,
        ref: "right",
        name: "right",
        version: "2.0.0",
        purl: "pkg:npm/right@2.0.0",
        ecosystem: "npm",
        key: "right",
        relation: "transitive",
        via: 2,
        licenses: ["MIT OR Apache-2.0"],
      },
    ]);
    const edges = await database.sql`
      SELECT from_position AS "from", to_position AS "to" FROM sbom_edges WHERE sbom_id = ${stored.sbom_id} ORDER BY 1, 2`;
    expect([...edges]).toEqual([
      { from: 0, to: 2 },
      { from: 2, to: 3 },
    ]);
    const [sbom] = await database.sql`
      SELECT encode(sha256, 'hex') AS sha256, filename, components, created_by FROM sboms WHERE id = ${stored.sbom_id}`;
    expect(sbom).toEqual({
      sha256: new Bun.CryptoHasher("sha256").update(bytesOf(bomJson("1.6"))).digest("hex"),
      filename: "bom.json",
      components: 3,
      created_by: "member@w",
    });
  });

  test("with the same bytes are one SBOM, and the second upload changes nothing", async () => {
    const first = await store("twice", bom(1), { product: "suite" });
    const before = { counts: await counts(), waiting };
    const [asked] = await database.sql`SELECT scan_asked FROM projects WHERE id = ${first.project_id}`;
    expect(await store("twice", bom(1), { product: "suite" })).toEqual(first);
    expect({ counts: await counts(), waiting }).toEqual(before);
    expect(await database.sql`SELECT scan_asked FROM projects WHERE id = ${first.project_id}`).toMatchObject([asked ?? {}]);
  });

  test("become the current one again after another upload of a former SBOM, and are scanned", async () => {
    const [first, second] = [await store("back", bom(1)), await store("back", bom(2))];
    await database.sql`UPDATE projects SET scan_status = 'completed' WHERE id = ${first.project_id}`;
    const before = waiting;
    const third = await store("back", bom(1));
    expect(third.sbom_id).toBe(first.sbom_id);
    expect(second.sbom_id).not.toBe(first.sbom_id);
    expect(third.scan_status).toBe("pending");
    expect(waiting).toBe(before + 1);
    const [project] = await database.sql`SELECT sbom_id FROM projects WHERE id = ${first.project_id}`;
    expect(project?.["sbom_id"]).toBe(first.sbom_id);
  });

  test("belong to the project with the given id and the given product", async () => {
    const { project_id: id } = await store("by-id", bom(1));
    expect((await store(id, bom(2), { product: "shelf" })).project_id).toBe(id);
    const [project] = await database.sql`
      SELECT products.name FROM projects JOIN products ON products.id = product_id WHERE projects.id = ${id}`;
    expect(project?.["name"]).toBe("shelf");
    expect((await store(id, bom(3))).project_id).toBe(id);
    const [after] = await database.sql`SELECT product_id IS NOT NULL AS kept FROM projects WHERE id = ${id}`;
    expect(after?.["kept"]).toBe(true);
  });

  test("leave no rows when the last statement fails", async () => {
    await database.sql`ALTER TABLE sbom_edges ADD CONSTRAINT none CHECK (to_position < 0) NOT VALID`;
    const before = await counts();
    try {
      expect(await refusal(store("half", bom(1), { product: "half" }))).not.toBe("");
    } finally {
      await database.sql`ALTER TABLE sbom_edges DROP CONSTRAINT none`;
    }
    expect(await counts()).toEqual(before);
  });
});
