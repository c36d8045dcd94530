/** Helm renders the chart, and the result is held against the schemas of Kubernetes. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readProcesses } from "./chart-processes.ts";
import { run, ToolMissingError, toolOf } from "./tool.ts";

const chart = "deploy/helm/weir";
/** A helm that was built from source takes itself for an old one. */
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
  gateway: { storage: { className: "fast" }, autoscaling: { enabled: true } },
  service: { annotations: { example: "yes" } },
  metrics: { serviceMonitor: { enabled: true, labels: { release: "prometheus" } } },
  networkPolicy: { clients: [{ namespaceSelector: {} }] },
  podAnnotations: { example: "yes" },
  nodeSelector: { "kubernetes.io/os": "linux" },
  tolerations: [{ key: "weir", operator: "Exists" }],
};

/** What the values' schema is to refuse. */
const wrong: Record<string, unknown>[] = [
  { ...least, gateway: { replica: 3 } },
  { redisAddress: "rediss://:password@redis.example:6379" },
  { ...least, environment: { log_level: "info" } },
  { ...least, natsReplicas: 9 },
];

export async function checkChart(): Promise<string> {
  const helm = toolOf("helm");
  const folder = mkdtempSync(join(tmpdir(), "weir-chart-"));
  const valuesFile = (values: unknown): string => {
    const path = join(folder, "values.json");
    writeFileSync(path, JSON.stringify(values));
    return path;
  };
  try {
    const seen: string[] = [];
    for (const values of [least, most]) {
      await run([helm, "lint", "--strict", chart, "--values", valuesFile(values)]);
      const rendered = await run([helm, "template", "weir", chart, ...kubernetes, "--values", valuesFile(values)]);
      const manifest = join(folder, "rendered.yaml");
      writeFileSync(manifest, rendered);
      const processes = readProcesses(rendered, folder);
      seen.push(`${rendered.split(/^---$/m).length - 1} objects ${await validate(manifest)}, with ${processes} that Weir reads`);
    }
    for (const values of wrong) await refused([helm, "template", "weir", chart, ...kubernetes, "--values", valuesFile(values)]);
    return `helm renders ${seen.join(", and ")}; its schema refuses ${wrong.length} wrong values`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function validate(manifest: string): Promise<string> {
  try {
    const validator = toolOf("kubeconform", "kubernetes-validate");
    const flags = validator === "kubeconform" ? ["-strict", "-ignore-missing-schemas"] : ["--strict"];
    await run([validator, ...flags, manifest]);
    return `that ${validator} accepts`;
  } catch (error) {
    if (!(error instanceof ToolMissingError)) throw error;
    return `(not held against Kubernetes' schemas: ${error.message})`;
  }
}

async function refused(command: readonly string[]): Promise<void> {
  const outcome = await run(command).catch((error: unknown) => String(error));
  if (!outcome.includes("values don't meet the specifications")) throw new Error(`The schema took wrong values: ${outcome}`);
}
