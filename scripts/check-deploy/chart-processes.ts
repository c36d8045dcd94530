/** Weir reads the environment of each process that the chart starts, with the secrets that the pod gets. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig, readMigrationConfig, readWorkerConfig } from "../../src/config.ts";

const mounted = "/run/secrets/weir";
const secrets: Record<string, string> = {
  "database-url":
    "postgres://weir:word@db-1.example:5432,db-2.example:5432/weir?sslmode=verify-full&target_session_attrs=read-write",
  "database-read-url": "postgres://weir:word@db-2.example:5432/weir?sslmode=verify-full",
  "redis-url": "rediss://:word@redis-1.example:6379,rediss://:word@redis-2.example:6379",
  "secrets-key": Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64"),
  "operator-token": "0123456789abcdef0123456789abcdef",
  "smtp-url": "smtp://weir:word@mail.example:587",
  "stripe-secret-key": "sk_test_1",
  "stripe-webhook-secret": "whsec_1",
  "oidc-client-secret": "word",
  "otlp-headers": "authorization=word",
  "openai-api-key": "word",
};
const natsAddress = (user: string): string =>
  `tls://weir-${user}:word@nats-1.example:4222,nats-2.example:4222,nats-3.example:4222`;

interface Pod {
  containers: { name: string; env?: { name: string; value: string }[] }[];
  volumes?: { secret?: { items: { key: string; path: string }[] } }[];
}

interface Rendered {
  spec?: { template?: { spec?: Pod } };
}

/** @returns how many kinds of processes there are @throws Error for one that would refuse to start */
export function readProcesses(rendered: string, folder: string): string {
  const documents = rendered.split(/^---$/m).map((text) => Bun.YAML.parse(text) as Rendered | null);
  const pods = documents.flatMap((document) => document?.spec?.template?.spec ?? []);
  for (const { containers, volumes = [] } of pods) {
    const [{ name, env = [] } = { name: "" }] = containers;
    const own = join(folder, name);
    mkdirSync(own, { recursive: true });
    for (const { key, path } of volumes.flatMap(({ secret }) => secret?.items ?? [])) {
      const value = /^nats-url-(\w+)$/.exec(key)?.[1];
      writeFileSync(join(own, path), secrets[key] ?? natsAddress(value ?? "nobody"), { mode: 0o440 });
    }
    const environment = Object.fromEntries(env.map((one) => [one.name, one.value.replace(mounted, own)]));
    try {
      readAs(name, environment);
    } catch (error) {
      throw new Error(`${name} would not start: ${String(error)}`, { cause: error });
    }
  }
  return `${pods.length} processes`;
}

/** Reads all keys of providers too. */
function readAs(name: string, environment: Record<string, string>): void {
  if (name === "migration") readMigrationConfig(environment);
  else if (name === "gateway") readConfig(environment);
  else readWorkerConfig(environment);
}
