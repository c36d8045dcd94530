/**
 * Lets processes of the fleet lose their whole network, as hosts of their own would: clients, servers, providers and each other. Each
 * process has a group of its own, by which the firewall knows its connections. That requires root.
 */
import { spawnSync } from "node:child_process";
import { Firewall } from "./firewall.ts";

/** Beyond those of people and services, and different from those of a run at the same time. */
const firstGroup = 1_000_000 + (process.pid % 10_000) * 100;

export class ProcessNetwork implements Disposable {
  /** Why no process can be cut off; null: each can. */
  readonly problem: string | null;
  readonly #firewall = new Firewall();
  readonly #groups = new Map<string, number>();

  constructor() {
    this.problem = this.#firewall.problem ?? this.#trial();
  }

  /** The words before the command of a process that is to be known; none where no process can be cut off. */
  prefixOf(name: string): string[] {
    if (this.problem !== null) return [];
    const group = this.#groups.get(name) ?? firstGroup + this.#groups.size + 1;
    this.#groups.set(name, group);
    return inGroup(group);
  }

  /** What it sends is lost from now on, and then what is sent to it on the same connections. Returns what connects it again. */
  cut(name: string): () => void {
    const group = this.#groups.get(name);
    if (group === undefined) throw new Error(this.problem ?? `There is no process "${name}"`);
    return this.#firewall.add(rulesOf(group));
  }

  [Symbol.dispose](): void {
    this.#firewall[Symbol.dispose]();
  }

  #trial(): string | null {
    if (spawnSync("setpriv", inGroup(firstGroup).slice(1).concat("true")).status !== 0)
      return "setpriv cannot change groups here";
    try {
      this.#firewall.add(rulesOf(firstGroup))();
      return null;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}

function inGroup(group: number): string[] {
  return ["setpriv", "--regid", String(group), "--clear-groups", "--"];
}

/** All packets of loopback arrive here, so one rule loses both directions of a marked connection. */
function rulesOf(group: number): string[] {
  return [
    `-t mangle OUTPUT -m owner --gid-owner ${group} -j CONNMARK --set-mark ${group}`,
    `INPUT -m connmark --mark ${group} -j DROP`,
  ];
}
