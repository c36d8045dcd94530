/** PostgreSQL, Redis and NATS with TLS, with one certificate for the host `localhost`. */
import { appendFile, chown, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import { RedisClient } from "bun";
import { freePort } from "../../../scripts/services/ports.ts";
import type { Servers } from "../../../scripts/services/find-servers.ts";
import { startServices, type ServiceUrls } from "../../../scripts/services.ts";
import type { Secure } from "./raw-server.ts";

export interface TlsServers extends AsyncDisposable {
  urls: ServiceUrls;
  /** The same servers without TLS. */
  plain: ServiceUrls;
}

export async function startTlsServers({
  servers,
  folder,
  secure,
}: {
  servers: Servers;
  folder: string;
  secure: Secure;
}): Promise<TlsServers> {
  await using stack = new AsyncDisposableStack();
  const services = stack.use(await startServices({ servers, folder }));
  const { urls } = services;
  await encryptPostgres(urls.DATABASE_URL, secure);
  const redisPort = await encryptRedis(urls.REDIS_URL, { folder: join(folder, "redis"), secure });
  await encryptNats(join(folder, "nats"), secure);
  await services.nats.restart();
  const kept = stack.move();
  const redis = new URL(urls.REDIS_URL);
  return {
    plain: urls,
    urls: {
      DATABASE_URL: `${atLocalhost(urls.DATABASE_URL)}?sslmode=verify-full`,
      NATS_URL: atLocalhost(urls.NATS_URL).replace("nats:", "tls:"),
      REDIS_URL: `rediss://:${redis.password}@localhost:${redisPort}`,
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function atLocalhost(url: string): string {
  return url.replace("127.0.0.1", "localhost");
}

/** The key is in its data folder, because PostgreSQL only reads a key that it owns. From then on it refuses plain connections. */
async function encryptPostgres(url: string, { key, cert }: Secure): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const [{ data_directory: data } = {}] = await sql<{ data_directory: string }[]>`SHOW data_directory`;
  const folder = String(data);
  const { uid, gid } = await stat(folder);
  for (const [name, text] of Object.entries({ "server.key": key, "server.crt": cert })) {
    await writeFile(join(folder, name), text, { mode: 0o600 });
    await chown(join(folder, name), uid, gid);
  }
  const rules = join(folder, "pg_hba.conf");
  await writeFile(rules, (await readFile(rules, "utf8")).replaceAll(/^host /gm, "hostssl "));
  await sql.unsafe("ALTER SYSTEM SET ssl = on");
  await sql`SELECT pg_reload_conf()`;
  await sql.end();
}

/** On a separate port, in addition to the plain one. */
async function encryptRedis(url: string, { folder, secure }: { folder: string; secure: Secure }): Promise<number> {
  const port = await freePort();
  const { keyFile, certificateFile } = await writeSecure(folder, secure);
  const client = new RedisClient(url);
  const settings = [
    "tls-cert-file",
    certificateFile,
    "tls-key-file",
    keyFile,
    "tls-auth-clients",
    "no",
    "tls-port",
    String(port),
  ];
  await client.send("CONFIG", ["SET", ...settings]);
  client.close();
  return port;
}

async function encryptNats(folder: string, secure: Secure): Promise<void> {
  const { keyFile, certificateFile } = await writeSecure(folder, secure);
  const files = `cert_file: ${JSON.stringify(certificateFile)}, key_file: ${JSON.stringify(keyFile)}`;
  await appendFile(join(folder, "nats.conf"), `\ntls { ${files} }\n`);
}

async function writeSecure(folder: string, { key, cert }: Secure): Promise<{ keyFile: string; certificateFile: string }> {
  const [keyFile, certificateFile] = [join(folder, "tls.key"), join(folder, "tls.crt")];
  await writeFile(keyFile, key, { mode: 0o600 });
  await writeFile(certificateFile, cert);
  return { keyFile, certificateFile };
}
