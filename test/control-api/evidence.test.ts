/** The evidence pack: what it has, that its sums hold, who gets it, and that the same times give the same files. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { crc32, inflateRawSync } from "node:zlib";
import { zipResponse } from "../../src/http/zip-response.ts";
import { Control, operatorToken } from "../support/control.ts";
import { settlement } from "../support/gateway/settlements.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";
import { Closer } from "../support/statements/closer.ts";
import { LedgerHistory } from "../support/statements/ledger-history.ts";

/** Reads an archive by its directory, as programs do. @throws Error for one that contradicts itself */
function unzipped(archive: Buffer): Map<string, Buffer> {
  const end = archive.length - 22;
  expect(archive.readUInt32LE(end)).toBe(0x06054b50);
  const files = new Map<string, Buffer>();
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    expect(archive.readUInt32LE(at)).toBe(0x02014b50);
    const [crc, packed, size] = [archive.readUInt32LE(at + 16), archive.readUInt32LE(at + 20), archive.readUInt32LE(at + 24)];
    const name = archive.toString("utf8", at + 46, at + 46 + archive.readUInt16LE(at + 28));
    const local = archive.readUInt32LE(at + 42);
    expect(archive.toString("utf8", local + 30, local + 30 + archive.readUInt16LE(local + 26))).toBe(name);
    const from = local + 30 + archive.readUInt16LE(local + 26);
    const bytes = inflateRawSync(archive.subarray(from, from + packed));
    expect([name, bytes.length, crc32(bytes)]).toEqual([name, size, crc]);
    files.set(name, bytes);
    at += 46 + archive.readUInt16LE(at + 28);
  }
  expect(at).toBe(end);
  return files;
}

const sum = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

test("an archive has empty files, files of other alphabets and large ones; its turn ends with it, by a failure, and if its client leaves", async () => {
  const large = Buffer.alloc(3_000_000, "a line that repeats\n");
  async function* files(fails = false) {
    yield { name: "empty.txt", bytes: new Uint8Array(0) };
    yield { name: "ordner/größe.txt", bytes: Buffer.from("µ") };
    if (fails) throw new Error("The database is gone");
    yield { name: "large.txt", bytes: large };
  }
  let turns = 0;
  const archive = (fails = false) => {
    turns++;
    const turn = new DisposableStack();
    turn.defer(() => turns--);
    return zipResponse({ name: "a/b c", files: files(fails), at: new Date("2026-11-20T12:00:00Z"), turn });
  };
  const whole = archive();
  expect(whole.headers.get("content-disposition")).toBe('attachment; filename="a-b-c.zip"');
  const read = unzipped(Buffer.from(await whole.arrayBuffer()));
  expect([...read.keys()]).toEqual(["empty.txt", "ordner/größe.txt", "large.txt"]);
  expect(read.get("large.txt")?.equals(large)).toBe(true);
  await archive().body?.cancel();
  const reader = archive().body?.getReader();
  await reader?.read();
  await reader?.cancel();
  await expect(archive(true).arrayBuffer()).rejects.toThrow("The database is gone");
  expect(turns).toBe(0);
});

describe.each(oneDatabase)("the evidence pack on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  let server: ReturnType<Control["listen"]>;
  let secret: string;

  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    server = control.listen();
    const workspace = await control.workspace("acme");
    const { id: key } = await control.key("acme", { name: "=cmd|' /C calc'!A0" });
    await control.expect("POST", `/keys/${key}/revoke`, { body: {} });
    secret = (await control.key("acme", { name: "in use" })).key;
    await control.workspace("other");
    await control.key("other", { name: "of another" });
    const history = new LedgerHistory(database.sql, workspace);
    await history.enter("2026-10-02T00:00:00Z", { kind: "credit", nano: 1_000_000_000n, reference: "invoice" });
    await history.book("2026-10-05T00:00:01Z", settlement({ workspace, key, admittedAt: Date.UTC(2026, 9, 5) }));
    await new Closer(database.sql).closeAt("2026-11-20T12:00:00Z");
    await control.expect("PATCH", "/workspaces/acme", { body: { early_access: ["usage_statements"] } });
    control.clock.advance(1_000);
  }, 60_000);
  afterAll(async () => {
    await server.stop();
    await database[Symbol.asyncDispose]();
  });

  async function pack(as: string, query = ""): Promise<Map<string, Buffer>> {
    const headers = { authorization: `Bearer ${operatorToken}`, "x-act-as": as };
    const answer = await fetch(`${server.url}/api/console/evidence?workspace=acme&format=zip${query}`, { headers });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/zip"]);
    return unzipped(Buffer.from(await answer.arrayBuffer()));
  }

  test("it has the audit log, members, keys and closed statements, and sums that hold; no secret and no other workspace's", async () => {
    const files = await pack("auditor@acme");
    expect([...files.keys()]).toEqual([
      "audit-0001.csv",
      "members.csv",
      "keys.csv",
      "statements/2026-10.json",
      "README.txt",
      "SHA256SUMS",
    ]);
    const sums = (files.get("SHA256SUMS") ?? "").toString();
    const expected = [...files].filter(([name]) => name !== "SHA256SUMS").map(([name, bytes]) => `${sum(bytes)}  ${name}\n`);
    expect(sums).toBe(expected.join(""));
    const { sha256 } = await control.expect("GET", "/statements/2026-10?workspace=acme");
    expect(sum(files.get("statements/2026-10.json") ?? Buffer.alloc(0))).toBe(String(sha256));
    const text = [...files.values()].join("\n");
    expect(text).toContain("auth.api.key.revoked");
    expect(text).toContain("super_admin@acme,super_admin,active");
    // A name that a spreadsheet would run.
    expect(text).toContain(",'=cmd|");
    expect(text).toContain("in use");
    expect(text).not.toContain("of another");
    expect(text).not.toContain(secret);
  });

  test("the same times give the same audit files, a shorter time fewer changes, and the list of sums is that of the archive", async () => {
    const until = new Date(control.clock.now()).toISOString();
    const query = `&from=2026-11-01T00:00:00Z&to=${until}`;
    const first = await pack("admin@acme", query);
    control.clock.advance(60_000);
    await control.key("acme", { name: "later" });
    const again = await pack("admin@acme", query);
    expect(again.get("audit-0001.csv")?.equals(first.get("audit-0001.csv") ?? Buffer.alloc(0))).toBe(true);
    expect([first.has("statements/2026-10.json"), again.get("keys.csv")?.toString().includes("later")]).toEqual([false, true]);
    expect(
      (await pack("admin@acme", "&to=2026-10-01T00:00:00Z")).get("audit-0001.csv")?.toString().trim().split("\n"),
    ).toHaveLength(1);
    const { files } = await control.expect("GET", `/evidence?workspace=acme${query}`);
    const listed = (files as { name: string; sha256: string }[]).find(({ name }) => name === "audit-0001.csv");
    expect(listed?.sha256).toBe(sum(first.get("audit-0001.csv") ?? Buffer.alloc(0)));
  });

  test("where statements are off, README.txt says so; members and strangers get none", async () => {
    await control.expect("PATCH", "/workspaces/acme", { body: { early_access: [] } });
    expect((await pack("auditor@acme")).get("README.txt")?.toString()).toContain("There are no statements");
    for (const format of ["json", "zip"]) {
      const path = `/evidence?workspace=acme&format=${format}`;
      expect(await control.refusal("GET", path, { as: "member@acme" })).toBe("403 forbidden null");
      expect(await control.refusal("GET", path, { as: "auditor@other" })).toStartWith("403 forbidden");
    }
  });
});
