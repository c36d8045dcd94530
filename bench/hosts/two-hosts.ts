/** Two hosts on this machine: network namespaces with one cable between them, and no way out. Making them needs root. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";

const namesBegin = "weir-hosts-";
/** Addresses for tests between hosts, which no network routes (RFC 2544). */
const addresses = { near: "198.18.0.1", far: "198.18.0.2" };
const folder = "/run/netns";

export class TwoHosts implements Disposable {
  readonly near = `${namesBegin}${process.pid}-near`;
  readonly far = `${namesBegin}${process.pid}-far`;
  readonly farAddress = addresses.far;
  readonly #remove = (): void => [this.near, this.far].forEach(removeHost);

  /** @throws Error with the reason where hosts cannot be made */
  constructor() {
    removeLeftHosts();
    process.once("exit", this.#remove);
    try {
      for (const host of [this.near, this.far]) ip("netns", "add", host);
      ip("-n", this.near, "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", this.far);
      for (const [host, address] of [
        [this.near, addresses.near],
        [this.far, addresses.far],
      ] as const) {
        ip("-n", host, "address", "add", `${address}/30`, "dev", "cable");
        for (const device of ["lo", "cable"]) ip("-n", host, "link", "set", device, "up");
      }
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#remove();
    process.off("exit", this.#remove);
  }
}

/** The words before a command that run it on a host. The process keeps its id. */
export function on(host: string): string[] {
  return ["ip", "netns", "exec", host];
}

function ip(...words: string[]): void {
  const { status, stderr, error } = spawnSync("ip", words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`"ip ${words.join(" ")}" failed: ${error?.message ?? stderr.trim()}`);
}

function removeHost(host: string): void {
  if (existsSync(`${folder}/${host}`)) spawnSync("ip", ["netns", "delete", host], { stdio: "ignore" });
}

/** A run that was killed could not remove its own. */
function removeLeftHosts(): void {
  const all = existsSync(folder) ? readdirSync(folder) : [];
  for (const host of all) {
    const pid = host.startsWith(namesBegin) ? host.slice(namesBegin.length).split("-")[0] : undefined;
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) removeHost(host);
  }
}
