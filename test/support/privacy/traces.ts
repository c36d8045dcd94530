/** Everything that a service leaves behind or prints, as named bytes, to search for a text. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "redis";
import type { Database } from "../../../src/backing/backing.ts";

export class Traces {
  readonly #parts = new Map<string, Buffer>();

  add(name: string, bytes: string | Uint8Array): void {
    this.#parts.set(name, Buffer.concat([this.#parts.get(name) ?? Buffer.alloc(0), Buffer.from(bytes)]));
  }

  /** Every file below a folder, as stored. */
  async addFolder(name: string, folder: string): Promise<void> {
    for (const path of await readdir(folder, { recursive: true })) {
      const file = join(folder, path);
      // A server may remove a file in the meantime.
      const bytes = await stat(file).then(
        (found) => (found.isFile() ? readFile(file) : null),
        () => null,
      );
      if (bytes) this.add(`${name}/${path}`, bytes);
    }
  }

  /** Every row of every table, decompressed by the database. */
  async addTables(name: string, sql: Database): Promise<void> {
    const tables = await sql<{ tablename: string }[]>`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`;
    for (const { tablename } of tables) {
      for (const row of await sql`SELECT * FROM ${sql(tablename)}`) {
        for (const value of Object.values(row)) this.add(`${name}.${tablename}`, textOf(value));
      }
    }
  }

  /** Every key of a Redis and its content. */
  async addRedis(name: string, url: string): Promise<void> {
    const client = redisAt(url);
    await client.connect();
    try {
      for await (const keys of client.scanIterator()) {
        for (const key of keys) this.add(name, `${key} ${JSON.stringify(await valueOf(client, key))}\n`);
      }
    } finally {
      await client.close();
    }
  }

  /** The names of all parts. */
  get names(): string[] {
    return [...this.#parts.keys()];
  }

  /** The names of the parts that contain the text: plain, in base64 of any alignment, or in hexadecimal. */
  whereIs(text: string): string[] {
    const forms = [text, Buffer.from(text).toString("hex"), ...base64Cores(text)].map((form) => Buffer.from(form));
    return [...this.#parts].flatMap(([name, bytes]) => (forms.some((form) => bytes.includes(form)) ? [name] : []));
  }
}

function textOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  return Buffer.from(`${JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? String(inner) : inner))}\n`);
}

function redisAt(url: string) {
  return createClient({ url });
}

async function valueOf(client: ReturnType<typeof redisAt>, key: string): Promise<unknown> {
  switch (await client.type(key)) {
    case "string":
      return client.get(key);
    case "hash":
      return client.hGetAll(key);
    case "zset":
      return client.zRangeWithScores(key, 0, -1);
    case "set":
      return client.sMembers(key);
    case "list":
      return client.lRange(key, 0, -1);
    default:
      throw new Error(`A test does not know how to look into the Redis key "${key}"`);
  }
}

/** What base64 of any text around this one contains: its middle, at each of the three alignments. */
function base64Cores(text: string): string[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.from("\0".repeat(before) + text)
      .toString("base64")
      .replace(/=+$/, "");
    return encoded.slice(before === 0 ? 0 : before + 1, -2);
  });
}
