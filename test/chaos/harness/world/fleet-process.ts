/** A process of the fleet, restarted when it dies. The kernel kills it when this process dies, even while it is stopped (SIGSTOP). */
import { bun, OurProcess } from "../../../support/processes/process.ts";
import { killWithParent } from "../../../../scripts/services/program.ts";

export interface FleetProcessPlan {
  /** Such as `gateway-1`. */
  name: string;
  arguments: string[];
  /** The words before the command. */
  prefix: string[];
  environment: Record<string, string>;
  /** The folder of the code that it starts from, until `upgrade`. Default: this repository. */
  former?: string | undefined;
}

const restartMs = 200;

export class FleetProcess implements AsyncDisposable {
  readonly plan: FleetProcessPlan;
  #former: string | undefined;
  #process: OurProcess;
  #output = "";
  #closed = false;
  #starts = 0;
  #again: ReturnType<typeof setTimeout> | null = null;

  constructor(plan: FleetProcessPlan) {
    this.plan = plan;
    this.#former = plan.former;
    this.#process = this.#start();
  }

  get name(): string {
    return this.plan.name;
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** How often it was started. */
  get starts(): number {
    return this.#starts;
  }

  /** The output of all its runs so far. */
  get output(): string {
    return this.#output + this.#process.output;
  }

  /** From its next start it runs the code of this repository. */
  upgrade(): void {
    this.#former = undefined;
  }

  signal(name: NodeJS.Signals): void {
    this.#process.signal(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    if (this.#again !== null) clearTimeout(this.#again);
    await this.#process[Symbol.asyncDispose]();
  }

  #start(): OurProcess {
    this.#starts++;
    const [program = bun, ...words] = [...this.plan.prefix, ...killWithParent("SIGKILL"), bun, ...this.plan.arguments];
    const code = this.#former === undefined ? {} : { cwd: this.#former };
    const process = new OurProcess({ program, arguments: words, environment: this.plan.environment, ...code });
    void process.exited.then((code) => this.#ended(process, code));
    return process;
  }

  #ended(process: OurProcess, code: number | null): void {
    this.#output += `${process.output}\n--- ended with ${code ?? "a signal"}\n`;
    if (this.#closed) return;
    this.#again = setTimeout(() => (this.#process = this.#start()), restartMs);
  }
}
