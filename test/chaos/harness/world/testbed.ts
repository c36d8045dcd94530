/** The testbed of a run: real servers, Weir's processes behind networks that can be bad, a provider, and a disk that can be full. */
import { rmSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../../scripts/services/ports.ts";
import type { Servers } from "../../../../scripts/services/find-servers.ts";
import { secretsKeyNamed } from "../../../support/secrets-key.ts";
import { embeddingModel } from "../../../support/providers/embedding-answers.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../../../support/providers/stub-catalog.ts";
import { StripeStub } from "../../../support/stripe/stripe-stub.ts";
import { partNames, type FleetSize } from "../faults/fault.ts";
import { Disk } from "./disk.ts";
import { openEngines, urlsOf, type Engines } from "./engines/open-engines.ts";
import { FleetProcess } from "./fleet-process.ts";
import { Links } from "./links.ts";
import { ProcessNetwork } from "./process-network.ts";
import { Provider } from "./provider.ts";

export const operatorToken = "operator-token-of-a-chaos-run-of-32-characters";
export const providerKey = "sk-key-of-the-chaos-provider";
export const model = "stub/model";
/** Two providers serve it, so that a call with an own key for the first may continue at the second on credit. */
export const pairedModel = "stub/pair";
export const embeddingsModel = "stub/embed";
const prices_per_1m_usd = { input: "1.00", output: "2.00" };

export interface TestbedPlan {
  servers: Servers;
  logLevel: string;
  /** Variables for every process of Weir. */
  environment?: Record<string, string>;
  /** The folder of a former version, whose code all processes start from. */
  former?: string | undefined;
  /** Clusters in place of single servers, and a larger fleet. */
  clusters?: boolean | undefined;
}

export interface Testbed extends AsyncDisposable {
  /** Removed at the end of the run. */
  folder: string;
  engines: Engines;
  provider: Provider;
  stripe: StripeStub;
  /** null: clusters are reached directly, since their servers tell clients the addresses of each other. */
  links: Links | null;
  disk: Disk;
  /** Of each process of Weir. */
  network: ProcessNetwork;
  size: FleetSize;
  gateways: { url: string; part: FleetProcess }[];
  /** All processes of Weir, by name. */
  parts: Map<string, FleetProcess>;
}

const sizes = { single: { gateways: 2, workers: 2, metering: 2 }, clusters: { gateways: 3, workers: 3, metering: 2 } };

/** Starts gateways, admission workers, metering workers, a prober, and all that they need. */
export async function openTestbed({ servers, logLevel, environment, former, clusters }: TestbedPlan): Promise<Testbed> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "weir-chaos-"));
  stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  await chmod(folder, 0o711);
  // A former version refuses a database with a newer schema.
  const template = former === undefined ? {} : { template: null };
  const areClusters = clusters === true;
  const engines = stack.use(await openEngines({ servers, folder: join(folder, "servers"), areClusters, ...template }));
  const provider = stack.use(await Provider.start());
  const stripe = stack.use(new StripeStub());
  const links = areClusters ? null : stack.use(new Links(urlsOf(engines)));
  const disk = stack.use(await Disk.mount(join(folder, "data")));
  const network = stack.use(new ProcessNetwork());
  const catalogDir = await writeModels(join(folder, "catalog"), provider);
  const common = {
    DATA_DIR: disk.path,
    OPERATOR_TOKEN: operatorToken,
    SANDBOX: "off",
    LOG_LEVEL: logLevel,
    SECRETS_KEY: secretsKeyNamed("fleet"),
    CATALOG_DIR: catalogDir,
    [stubKeyEnv]: providerKey,
    ...stripe.environment,
    ...environment,
  };
  const parts = new Map<string, FleetProcess>();
  const cleanUp = () => removeEverything({ folder, disk, parts });
  process.once("exit", cleanUp);
  stack.defer(() => void process.off("exit", cleanUp));
  const start = async (name: string, words: string[], more: Record<string, string>): Promise<FleetProcess> => {
    const own = { ...common, ...((await links?.environmentOf(name)) ?? urlsOf(engines)), ...more };
    const part = stack.use(
      new FleetProcess({ name, arguments: words, prefix: network.prefixOf(name), environment: own, former }),
    );
    parts.set(name, part);
    return part;
  };
  const size = areClusters ? sizes.clusters : sizes.single;
  const names = partNames(size);
  for (const name of names.filter((one) => !isGateway(one))) await start(name, ["workers/main.ts", kindOf(name)], {});
  const gateways: Testbed["gateways"] = [];
  for (const name of names.filter(isGateway)) {
    const port = await freePort();
    const part = await start(name, ["src/main.ts"], { PORT: String(port) });
    gateways.push({ url: `http://127.0.0.1:${port}`, part });
  }
  const kept = stack.move();
  const close = () => kept.disposeAsync();
  return { folder, engines, provider, stripe, links, disk, network, size, gateways, parts, [Symbol.asyncDispose]: close };
}

function writeModels(folder: string, { urlOf }: Provider): Promise<string> {
  const routes = ["stub", "spare"].map((id) => ({ provider: id, upstream_model: "stub-pair", prices_per_1m_usd }));
  return writeCatalog(folder, {
    providers: [stubProvider({ base_url: urlOf("stub") }), stubProvider({ id: "spare", base_url: urlOf("spare") })],
    models: { stub: [stubModel(), stubModel({ id: pairedModel, routes }), embeddingModel({ id: embeddingsModel })] },
  });
}

function isGateway(name: string): boolean {
  return name.startsWith("gateway");
}

/** Such as `admission` for worker-1. */
function kindOf(name: string): string {
  const kind = name.replace(/-\d+$/, "");
  return kind === "worker" ? "admission" : kind;
}

/** Cleans up after an interrupted run, without waiting. The servers stop by themselves. */
function removeEverything({ folder, disk, parts }: Pick<Testbed, "folder" | "disk" | "parts">): void {
  for (const part of parts.values()) part.signal("SIGKILL");
  disk.unmount();
  rmSync(folder, { recursive: true, force: true });
}
