/** Addresses of loopback that belong to this run, between which the network can be cut by the firewall. That requires root. */
import { Firewall } from "./firewall.ts";

/** Different from that of a run at the same time. */
const network = `127.${64 + ((process.pid >> 8) % 64)}.${process.pid % 256}`;

export class LoopbackNetwork implements Disposable {
  readonly hosts: readonly string[];
  readonly #firewall = new Firewall();

  constructor(count: number) {
    const hosts = Array.from({ length: count }, (_, place) => `${network}.${place + 1}`);
    this.hosts = this.problem === null ? hosts : [];
  }

  /** Why the network cannot be cut; null: it can. */
  get problem(): string | null {
    return this.#firewall.problem;
  }

  /** Nothing arrives between the host and the others; clients reach all of them. Returns a function that connects it again. */
  cut(host: string): () => void {
    const others = `${network}.0/24`;
    return this.#firewall.add([`-s ${host} -d ${others}`, `-s ${others} -d ${host}`].map((which) => `INPUT ${which} -j DROP`));
  }

  [Symbol.dispose](): void {
    this.#firewall[Symbol.dispose]();
  }
}
