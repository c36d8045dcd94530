/** Files that wait for their tickets: the whole file is on the disk, its digest in the database. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../../src/kernel/clock.ts";
import { AttachmentFolder } from "../../../src/security/tickets/attachment-folder.ts";
import { openEmbeddedDatabase } from "../../support/servers/databases.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { toolsStage, type ToolsStage } from "../../support/security/tools-api.ts";

let stage: ToolsStage;
beforeAll(async () => {
  stage = await toolsStage(openEmbeddedDatabase);
}, 60_000);
afterAll(() => stage[Symbol.asyncDispose]());

test("a file that is sent in pieces is stored whole and only for its owner, with its size and its SHA-256", async () => {
  await using folder = await temporaryFolder();
  const attachments = new AttachmentFolder(folder.path);
  const pieces = [1, 2, 3].map((byte) => new Uint8Array(100_000).fill(byte));
  const whole = Buffer.concat(pieces);
  const { sql } = stage.database;
  const [workspace] = await sql<{ id: string }[]>`SELECT id FROM workspaces LIMIT 1`;
  const place = { workspace: workspace?.id ?? "", owner: "member@w" };
  const { id, sizeBytes } = await attachments.keep({ ...place, name: "log.bin", pieces }, { sql, clock: systemClock });
  expect(sizeBytes).toBe(300_000);
  expect(await readdir(folder.path)).toEqual([id]);
  expect((await readFile(join(folder.path, id))).equals(whole)).toBe(true);
  expect((await stat(join(folder.path, id))).mode & 0o777).toBe(0o600);
  const rows =
    await sql`SELECT size_bytes::integer AS size, encode(sha256, 'hex') AS sha256 FROM ticket_attachments WHERE id = ${id}`;
  expect(rows).toEqual([{ size: 300_000, sha256: createHash("sha256").update(whole).digest("hex") }] as never);
});
