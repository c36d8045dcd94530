/**
 * Checks the chart: Helm renders it, the result is validated against Kubernetes' schemas, and Weir reads the environment of each process
 * that it starts, with the secrets of its pod.
 */
import { writeFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { readConfig, readMigrationConfig, readWorkerConfig } from "../../src/config.ts";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { run, ToolMissingError, toolOf } from "./tool.ts";

const chart = "deploy/helm/weir";
/** A helm built from source assumes an old version of Kubernetes. */
const kubernetes = ["--kube-version", "1.33.0"];
const least = { redisAddress: "rediss://redis.example:6379" };

/** Values that reach every line of the templates. */
const most = {
  redisAddress: "rediss://redis-1.example:6379,rediss://redis-2.example:6379",
  natsReplicas: 3,
  databaseReplica: { enabled: true },
  telemetry: { endpoint: "https://collector.example:4318", headers: true },
  workers: { metering: { replicas: 4 } },
  imagePullSecrets: [{ name: "registry" }],
  plaintextHosts: "redis",
  authority: { configMap: "authority" },
  publicUrl: "https://weir.example.com",
  console: true,
  sandbox: true,
  environment: { LOG_LEVEL: "warn" },
  providerKeys: [{ variable: "OPENAI_API_KEY", key: "openai-api-key" }],
  catalog: { configMap: "catalog" },
  mail: { enabled: true, address: "smtp://mail.example:587", from: "weir@example.com" },
  stripe: { enabled: true },
  oidc: { enabled: true, issuer: "https://accounts.example.com", clientId: "weir", name: "Example" },
  aws: { enabled: true, accountId: "123456789012", accessKeyId: "EXAMPLEKEYIDOFAWS" },
  gateway: { storage: { className: "fast" }, autoscaling: { enabled: true } },
  service: { annotations: { example: "yes" } },
  metrics: { serviceMonitor: { enabled: true, labels: { release: "prometheus" } } },
  networkPolicy: { clients: [{ namespaceSelector: {} }] },
  podAnnotations: { example: "yes" },
  nodeSelector: { "kubernetes.io/os": "linux" },
  tolerations: [{ key: "weir", operator: "Exists" }],
};

/** Values that the schema must refuse. */
const wrong: Record<string, unknown>[] = [
  { ...least, gateway: { replica: 3 } },
  { redisAddress: "rediss://:password@redis.example:6379" },
  { ...least, environment: { log_level: "info" } },
  { ...least, natsReplicas: 9 },
];

export async function checkChart(): Promise<string> {
  const helm = toolOf("helm");
  await using folder = await temporaryFolder();
  const [given, manifest] = [join(folder.path, "values.json"), join(folder.path, "rendered.yaml")];
  const render = (values: unknown): Promise<string> => {
    writeFileSync(given, JSON.stringify(values));
    return run([helm, "template", "weir", chart, ...kubernetes, "--values", given]);
  };
  const seen: string[] = [];
  for (const values of [least, most]) {
    const rendered = await render(values);
    await run([helm, "lint", "--strict", chart, "--values", given]);
    writeFileSync(manifest, rendered);
    const processes = readProcesses(rendered, folder.path);
    seen.push(`${rendered.split(/^---$/m).length - 1} objects ${await validate(manifest)}, with ${processes} that Weir reads`);
  }
  for (const values of wrong) {
    const outcome = await render(values).catch(String);
    if (!outcome.includes("values don't meet the specifications"))
      throw new Error(`The schema accepted wrong values: ${outcome}`);
  }
  return `helm renders ${seen.join(", and ")}; its schema refuses ${wrong.length} wrong values`;
}

async function validate(manifest: string): Promise<string> {
  try {
    const validator = toolOf("kubeconform", "kubernetes-validate");
    const flags = validator === "kubeconform" ? ["-strict", "-ignore-missing-schemas"] : ["--strict"];
    await run([validator, ...flags, manifest]);
    return `that ${validator} accepts`;
  } catch (error) {
    if (!(error instanceof ToolMissingError)) throw error;
    return `(not validated against Kubernetes' schemas: ${error.message})`;
  }
}

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
  "aws-secret-access-key": "word",
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

/** @returns how many kinds of processes there are @throws Error for a process that would refuse to start */
function readProcesses(rendered: string, folder: string): string {
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

/** Also reads all provider keys. */
function readAs(name: string, environment: Record<string, string>): void {
  if (name === "migration") readMigrationConfig(environment);
  else if (name === "gateway") readConfig(environment);
  else readWorkerConfig(environment);
}
