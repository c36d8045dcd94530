/** Addresses of loopback that belong to this run, between which the network can be cut by the firewall. That requires root. */
import { spawnSync } from "node:child_process";

/** Another one than that of a run beside this one. */
const network = `127.${64 + ((process.pid >> 8) % 64)}.${process.pid % 256}`;

export class LoopbackNetwork implements Disposable {
  readonly hosts: readonly string[];
  /** Why the network cannot be cut; null: it can. */
  readonly problem: string | null;
  readonly #rules = new Set<string>();
  readonly #removeAll = (): void => this.#rules.forEach((rule) => this.#remove(rule));

  constructor(count: number) {
    const { status, stderr } = spawnSync("iptables", ["-S", "INPUT"], { encoding: "utf8" });
    this.problem =
      status === 0 ? null : `the firewall cannot be changed here (${(stderr ?? "").trim() || "there is no iptables"})`;
    this.hosts = this.problem === null ? Array.from({ length: count }, (_, place) => `${network}.${place + 1}`) : [];
    process.once("exit", this.#removeAll);
  }

  /** Nothing arrives between the host and the others; clients reach all of them. Returns what connects it again. */
  cut(host: string): () => void {
    const others = `${network}.0/24`;
    const rules = [`-s ${host} -d ${others}`, `-s ${others} -d ${host}`].map((which) => `INPUT ${which} -j DROP`);
    for (const rule of rules) {
      this.#rules.add(rule);
      spawnSync("iptables", ["-A", ...rule.split(" ")]);
    }
    return () => rules.forEach((rule) => this.#remove(rule));
  }

  [Symbol.dispose](): void {
    this.#removeAll();
    process.off("exit", this.#removeAll);
  }

  #remove(rule: string): void {
    this.#rules.delete(rule);
    spawnSync("iptables", ["-D", ...rule.split(" ")]);
  }
}
