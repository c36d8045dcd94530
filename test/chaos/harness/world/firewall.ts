/** Rules of this machine's firewall, which end with the run. They require root. */
import { spawnSync } from "node:child_process";

export class Firewall implements Disposable {
  /** Why it cannot be changed; null: it can. */
  readonly problem: string | null;
  readonly #rules = new Set<string>();
  readonly #removeAll = (): void => this.#rules.forEach((rule) => this.#change("-D", rule));

  constructor() {
    const { status, stderr } = spawnSync("iptables", ["-S", "INPUT"], { encoding: "utf8" });
    this.problem =
      status === 0 ? null : `the firewall cannot be changed here (${(stderr ?? "").trim() || "there is no iptables"})`;
    process.once("exit", this.#removeAll);
  }

  /** @param rules each as iptables takes it after `-A`. Returns what removes them. @throws Error with a rule that is refused */
  add(rules: readonly string[]): () => void {
    for (const rule of rules) {
      this.#rules.add(rule);
      const problem = this.#change("-A", rule);
      if (problem !== null) throw new Error(`The firewall refuses "${rule}": ${problem}`);
    }
    return () => {
      for (const rule of rules) {
        this.#rules.delete(rule);
        this.#change("-D", rule);
      }
    };
  }

  [Symbol.dispose](): void {
    this.#removeAll();
    process.off("exit", this.#removeAll);
  }

  /** `-t TABLE` comes before the command. */
  #change(command: "-A" | "-D", rule: string): string | null {
    const [, table = "filter", rest = ""] = /^(?:-t (\w+) )?(.*)$/.exec(rule) ?? [];
    const { status, stderr } = spawnSync("iptables", ["-t", table, command, ...rest.split(" ")], { encoding: "utf8" });
    return status === 0 ? null : stderr.trim();
  }
}
