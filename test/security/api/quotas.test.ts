/** Quotas of a workspace, hourly and in total, which concurrent requests never exceed. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { quotaHourMs } from "../../../src/accounts/limits.ts";
import {
  attachmentUnusedBytesMax,
  attachmentsUnusedMax,
  mailsPerHourMax,
  productsPerWorkspaceMax,
  projectsPerWorkspaceMax,
  sbomsPerHourMax,
  ticketsPerHourMax,
} from "../../../src/security/limits.ts";
import { AttachmentFolder } from "../../../src/security/tickets/attachment-folder.ts";
import { oneDatabase } from "../../support/servers/databases.ts";
import { failureOf } from "../../support/failure-of.ts";
import { largeBom } from "../../support/security/sbom-documents.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { toolsStage, type ToolsStage } from "../../support/security/tools-api.ts";

const place = (stage: ToolsStage) => ({ workspace: stage.workspace, owner: "member@w" });

describe.each(oneDatabase)("quotas on $name", ({ open }) => {
  let stage: ToolsStage;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    folder = await temporaryFolder();
    stage = await toolsStage(open, { attachments: new AttachmentFolder(folder.path) });
  }, 60_000);
  afterAll(async () => {
    await stage[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  const sendFile = (name = "log.txt", bytes = new Uint8Array(10)) =>
    stage.api.send("/api/tools-attachments", bytes, { headers: { "x-attachment-name": encodeURIComponent(name) } });
  const idOf = (body: Record<string, unknown>) => String((body["data"] as Record<string, unknown>)["id"]);

  test("tickets with a mail are refused beyond their number in an hour, with the time to wait, and support requests continue", async () => {
    const before = Date.now();
    const calls = Array.from({ length: mailsPerHourMax + 5 }, (_, number) =>
      stage.api.call("submit_feedback", { message: `Number ${number}` }),
    );
    const answers = await Promise.all(calls);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.map(({ status }) => status)).toEqual([429, 429, 429, 429, 429]);
    expect(refused[0]?.body).toEqual({ success: false, error: expect.stringContaining("(mailsPerHourMax): try again later") });
    expect(refused[0]?.headers.get("retry-after")).toBe(String(quotaHourMs / 1_000));
    const [mails] = await stage.database.sql`SELECT count(*)::integer AS count FROM mails`;
    expect(mails?.["count"]).toBe(mailsPerHourMax);
    expect((await stage.api.call("create_support_request", { subject: "Help", message: "Please" })).status).toBe(200);
    stage.control.clock.advance(quotaHourMs + 1);
    expect((await stage.api.call("submit_feedback", { message: "An hour later" })).status).toBe(200);
    expect(Date.now() - before).toBeLessThan(quotaHourMs);
  });

  test("tickets of any kind are refused beyond their number in an hour", async () => {
    stage.control.clock.advance(quotaHourMs + 1);
    const at = new Date(stage.control.clock.now());
    await stage.database.sql`
      INSERT INTO tickets (id, reference, workspace_id, owner_email, type, subject, details, fingerprint, created_at, updated_at)
      SELECT 'tkt_' || n, 'SUP-' || n, ${stage.workspace}, 'member@w', 'support', 's', '{}', 'x', ${at}, ${at}
      FROM generate_series(1, ${ticketsPerHourMax}) AS n`;
    const { status, body } = await stage.api.call("create_support_request", { subject: "One more", message: "Please" });
    expect([status, body["error"]]).toEqual([429, expect.stringContaining("(ticketsPerHourMax)")]);
    stage.control.clock.advance(quotaHourMs + 1);
  });

  test("of forty concurrent files only as many are stored as may wait", async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => sendFile()));
    const kept = answers.filter(({ status }) => status === 200);
    expect(kept).toHaveLength(attachmentsUnusedMax);
    expect(await readdir(folder.path)).toHaveLength(attachmentsUnusedMax);
    const refused = answers.find(({ status }) => status !== 200);
    expect([refused?.status, refused?.body["error"]]).toEqual([429, expect.stringContaining("(attachmentsUnusedMax)")]);
    expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(3_000);
    stage.control.clock.advance(quotaHourMs + 1);
    expect((await sendFile()).status).toBe(200);
  });

  test("an attachment of one ticket cannot be used by another, even at the same time", async () => {
    const id = idOf((await sendFile()).body);
    const call = (message: string) => stage.api.call("submit_feedback", { message }, { headers: { "x-attachment": id } });
    const answers = await Promise.all(["One", "Two", "Three"].map(call));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
    const first = answers.findIndex(({ status }) => status === 200);
    const again = await call(["One", "Two", "Three"][first] ?? "");
    expect([again.status, String(again.body["message"])]).toEqual([200, expect.stringContaining("logged a moment ago")]);
    const [row] = await stage.database.sql`SELECT count(*)::integer AS count FROM ticket_attachments WHERE ticket_id IS NOT NULL`;
    expect(row?.["count"]).toBe(1);
  });

  test.each([".", ".."])("%s is refused as the name of a file", async (name) => {
    expect((await sendFile(name)).status).toBe(400);
  });

  test("the waiting files of a workspace have a bounded total size", async () => {
    const { sql } = stage.database;
    await sql`
      INSERT INTO ticket_attachments (id, workspace_id, owner_email, name, size_bytes, sha256, created_at)
      VALUES ('att_large', ${stage.workspace}, 'admin@w', 'x', ${attachmentUnusedBytesMax}, 'x', ${new Date(stage.control.clock.now())})`;
    const { status, body } = await sendFile();
    expect([status, body["error"]]).toEqual([429, expect.stringContaining("(attachmentUnusedBytesMax)")]);
    await sql`DELETE FROM ticket_attachments WHERE id = 'att_large'`;
  });

  test("a workspace at its limit of products or projects gets no new one, and can use the existing ones", async () => {
    const { sql } = stage.database;
    const at = new Date(stage.control.clock.now());
    await sql`
      INSERT INTO products (id, workspace_id, name, created_at)
      SELECT 'prd_' || n, ${stage.workspace}, 'product ' || n, ${at} FROM generate_series(1, ${productsPerWorkspaceMax - 1}) AS n`;
    const made = await Promise.all(["a", "b", "c"].map((name) => stage.api.call("create_product", { name })));
    expect(made.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
    expect(made.find(({ status }) => status === 400)?.body["error"]).toContain("(productsPerWorkspaceMax)");
    await sql`
      INSERT INTO projects (id, workspace_id, name, provider, created_at)
      SELECT 'prj_' || n, ${stage.workspace}, 'project ' || n, 'upload', ${at} FROM generate_series(1, ${projectsPerWorkspaceMax}) AS n`;
    const upload = (project: string) => stage.api.call("upload_sbom", { sbom: largeBom(2), project });
    const { status, body } = await upload("one more");
    expect([status, body["error"]]).toEqual([400, expect.stringContaining("(projectsPerWorkspaceMax)")]);
    expect((await upload("project 1")).status).toBe(200);
  }, 60_000);

  test("new SBOMs are refused beyond their number in an hour; an existing one does not count", async () => {
    const { sql } = stage.database;
    const at = new Date(stage.control.clock.now());
    await sql`
      INSERT INTO sboms (id, workspace_id, project_id, sha256, digest, format, spec_version, encoding, components, created_by, created_at)
      SELECT 'sbom_' || n, ${stage.workspace}, 'prj_2', decode(md5(n::text), 'hex'), 'x', 'CycloneDX', '1.6', 'json', 1, 'x', ${at}
      FROM generate_series(1, ${sbomsPerHourMax}) AS n`;
    const other = await stage.api.call("upload_sbom", { sbom: largeBom(3), project: "project 1" });
    expect([other.status, other.body["error"]]).toEqual([429, expect.stringContaining("(sbomsPerHourMax)")]);
    expect(other.headers.get("retry-after")).toBe(String(quotaHourMs / 1_000));
    expect((await stage.api.call("upload_sbom", { sbom: largeBom(2), project: "project 1" })).status).toBe(200);
    const [row] = await sql`SELECT row_characters AS characters FROM sboms WHERE row_characters > 0 LIMIT 1`;
    expect(Number(row?.["characters"])).toBeGreaterThan(100);
  }, 60_000);

  test("no byte of a refused file is read", async () => {
    const { sql } = stage.database;
    const attachments = new AttachmentFolder(folder.path);
    let asked = 0;
    const pieces = (async function* () {
      asked++;
      yield new Uint8Array(1);
    })();
    await sql`UPDATE ticket_attachments SET size_bytes = 21474836480`;
    const keeping = attachments.keep({ ...place(stage), name: "x", pieces }, { sql, clock: stage.control.clock });
    expect(String(await failureOf(keeping))).toContain("BytesMax");
    expect(asked).toBe(0);
  });
});
