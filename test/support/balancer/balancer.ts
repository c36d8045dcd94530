/** HAProxy in front of two gateways, with deploy/haproxy/haproxy.cfg. Only addresses differ. */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findBalancer } from "../../../scripts/services/find-servers.ts";
import { freePort } from "../../../scripts/services/ports.ts";
import { killWithParent, environmentOf, type Program } from "../../../scripts/services/program.ts";
import { OurProcess, repository } from "../processes/process.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { until } from "../until.ts";

const file = join(repository, "deploy/haproxy/haproxy.cfg");
const seenMsMax = 30_000;

/** null if this machine has none; the reason is printed. @throws Error in that case if CI is set, because CI skips nothing */
export async function testBalancer(): Promise<Program | null> {
  const found = await findBalancer();
  if (found !== null) return found;
  const missing = "install haproxy (on PATH)";
  if (process.env["CI"]) throw new Error(`No balancer, and CI is set: ${missing}`);
  console.error(`Tests that need a balancer are skipped: ${missing}`);
  return null;
}

export class Balancer implements AsyncDisposable {
  readonly url: string;
  readonly #stack: AsyncDisposableStack;
  readonly #process: OurProcess;
  /** Up to here its log was read by `saw`. */
  #read = 0;

  private constructor(url: string, process: OurProcess, stack: AsyncDisposableStack) {
    this.url = url;
    this.#process = process;
    this.#stack = stack;
  }

  /** @param gateways the URLs of two. Resolves when an answer of a gateway comes through it */
  static async start(program: Program, gateways: readonly { url: string }[]): Promise<Balancer> {
    await using stack = new AsyncDisposableStack();
    const { path: folder } = stack.use(await temporaryFolder());
    const [config, port] = [join(folder, "haproxy.cfg"), await freePort()];
    await writeFile(config, readFileSync(file, "utf8").replace("bind :8080", `bind 127.0.0.1:${port}`));
    const [GATEWAY_1, GATEWAY_2] = gateways.map(({ url }) => new URL(url).host);
    if (GATEWAY_1 === undefined || GATEWAY_2 === undefined) throw new Error("It balances two gateways");
    const [command = "", ...words] = [...killWithParent("SIGKILL"), program.path, "-f", config];
    const environment = { ...defined(environmentOf(program)), GATEWAY_1, GATEWAY_2 };
    const process = stack.use(new OurProcess({ program: command, arguments: words, environment }));
    const url = `http://127.0.0.1:${port}`;
    await until(async () => !process.running || (await fetch(`${url}/ready`).catch(() => null))?.status === 200, seenMsMax);
    if (!process.running) throw new Error(`HAProxy ended:\n${process.output}`);
    return new Balancer(url, process, stack.move());
  }

  /** Resolves with its reason when it says that a gateway is up or down, after what the last call waited for. */
  async saw(gateway: 1 | 2, state: "UP" | "DOWN"): Promise<string> {
    const line = new RegExp(`gateways/gateway-${gateway} is ${state}, reason: (.*)\n`, "g");
    const next = (): RegExpExecArray | null => {
      line.lastIndex = this.#read;
      return line.exec(this.#process.output);
    };
    await until(() => next() !== null, seenMsMax);
    const [whole = "", reason = ""] = next() ?? [];
    this.#read = this.#process.output.indexOf(whole, this.#read) + whole.length;
    return reason;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

function defined(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
