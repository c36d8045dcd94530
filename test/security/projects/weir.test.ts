/** SBOMs, products and projects on the command line. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bomJson } from "../../support/security/sbom-documents.ts";
import { openCommandLine, type CommandLine } from "../../support/command-line.ts";
import { operatorToken } from "../../support/control.ts";
import { repository } from "../../support/processes/process.ts";

let line: CommandLine;
beforeAll(async () => {
  line = await openCommandLine();
}, 60_000);
afterAll(() => line[Symbol.asyncDispose]());

const file = async (name: string, content: string) => {
  const path = join(line.folder, name);
  await writeFile(path, content);
  return path;
};
const upload = (path: string, ...more: string[]) => ["sbom", "upload", path, "--workspace", "w", "--project", "shop", ...more];

describe("sbom upload", () => {
  test("sbom upload prints the stored SBOM, and prints the same for a second upload of the file", async () => {
    const path = await file("bom.json", JSON.stringify(bomJson("1.6")));
    const stored = await line.weir.json(...upload(path, "--product", "suite"));
    expect(stored).toEqual({
      sbom_id: expect.stringMatching(/^sbom_/),
      project_id: expect.stringMatching(/^prj_/),
      format: "CycloneDX",
      spec_version: "1.6",
      components: 3,
      components_not_compared: 3,
      warnings: [],
      scan_status: "pending",
    });
    expect(line.control.notified.count("scan-waits")).toBe(1);
    expect(await line.weir.json(...upload(path))).toEqual(stored);
    expect(line.control.notified.count("scan-waits")).toBe(1);
    const [row] = await line.database.sql`SELECT filename, created_by FROM sboms`;
    expect({ ...row }).toEqual({ filename: "bom.json", created_by: "operator" });
  });

  test("sbom upload resolves a path from the folder of the npm command, also with --prefix", async () => {
    await file("typed-here.json", JSON.stringify(bomJson("1.6")));
    const environment = {
      PATH: process.env["PATH"] ?? "",
      HOME: line.folder,
      WEIR_URL: line.weir.url,
      WEIR_TOKEN: operatorToken,
    };
    const words = ["--prefix", repository, "run", "-s", "weir", "--", ...upload("./typed-here.json"), "--json"];
    const child = spawn("npm", words, { cwd: line.folder, env: environment });
    const said = { out: "", error: "" };
    child.stdout.on("data", (chunk: Buffer) => void (said.out += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => void (said.error += chunk.toString()));
    const [code] = await once(child, "close");
    expect([code, said.error]).toEqual([0, ""]);
    expect(JSON.parse(said.out)).toMatchObject({ format: "CycloneDX", components: 3 });
  }, 30_000);
});

describe("products and projects", () => {
  test("are created, listed and set", async () => {
    const { id } = await line.weir.json("product", "create", "--workspace", "w", "--name", "shelf/1");
    const products = await line.weir.json("product", "list", "--workspace", "w");
    expect(products["data"]).toMatchObject([
      { name: "shelf/1", projects_count: 0 },
      { name: "suite", projects_count: 1 },
    ]);
    const set = (product: string) => ["project", "set", "--workspace", "w", "--project", "shop", "--product", product];
    expect(await line.weir.json(...set("shelf/1"))).toMatchObject({ name: "shop", product_id: id });
    expect(await line.weir.json(...set("none"))).toMatchObject({ product_id: null });
    expect(await line.weir.json(...set(String(id)))).toMatchObject({ product_id: id });
    const projects = await line.weir.json("project", "list", "--workspace", "w");
    expect(projects["data"]).toMatchObject([{ name: "shop", product_id: id, scan_status: "pending", scan_queue_position: 0 }]);
    expect((await line.weir.run("project", "list", "--workspace", "w")).out).toContain("LAST_SCANNED_AT");
  });

  test("are refused with messages", async () => {
    expect(await line.weir.refusal("product", "create", "--workspace", "w", "--name", "suite")).toContain(
      'There is a product "suite" already',
    );
    const set = (...words: string[]) => line.weir.refusal("project", "set", "--workspace", "w", ...words);
    expect(await set("--project", "nothing", "--product", "none")).toContain('There is no project "nothing"');
    expect(await set("--project", "shop", "--product", "nothing")).toContain('There is no product "nothing"');
  });

  test("of the sample data are loaded, and removed with --yes", async () => {
    const inW = ["--workspace", "w"];
    expect(await line.weir.json("sample", "load", ...inW)).toMatchObject({ changed: true, projects: { length: 3 } });
    expect((await line.weir.run("sample", "remove", ...inW)).out).not.toContain("sample-web-shop");
    expect(await line.weir.json("sample", "show", ...inW)).toMatchObject({ projects: { length: 3 }, own_projects: true });
    expect(await line.weir.json("sample", "remove", ...inW, "--yes")).toMatchObject({ removed: { length: 3 } });
  });

  test("cannot be changed by auditors, nor seen by other workspaces", async () => {
    const path = await file("bom.json", JSON.stringify(bomJson("1.6")));
    expect(await line.weir.refusal(...upload(path, "--as", "auditor@w"))).toContain("Cannot store an SBOM as auditor");
    const create = ["product", "create", "--workspace", "w", "--name", "n"];
    expect(await line.weir.refusal(...create, "--as", "auditor@w")).toContain("Cannot create a product as auditor");
    expect((await line.weir.json("project", "list", "--workspace", "w", "--as", "auditor@w"))["data"]).toHaveLength(1);
    expect((await line.weir.run("project", "list", "--workspace", "w", "--as", "stranger@w")).code).toBe(1);
  });
});
