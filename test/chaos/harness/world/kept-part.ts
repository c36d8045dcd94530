/** A process of ours under a supervisor: when it dies, another takes its place. It dies with this process, also when it is stopped. */
import { bun, OurProcess } from "../../../support/process.ts";
import { diesWithUs } from "../../../../scripts/services/dies-with-us.ts";

export interface PartPlan {
  /** Such as `gateway-1`. */
  name: string;
  arguments: string[];
  environment: Record<string, string>;
}

const restartMs = 200;

export class KeptPart implements AsyncDisposable {
  readonly plan: PartPlan;
  #process: OurProcess;
  #said = "";
  #closed = false;
  #starts = 0;
  #again: ReturnType<typeof setTimeout> | null = null;

  constructor(plan: PartPlan) {
    this.plan = plan;
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

  /** All that its processes said so far. */
  get output(): string {
    return this.#said + this.#process.output;
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
    const [program = bun, ...words] = [...diesWithUs("SIGKILL"), bun, ...this.plan.arguments];
    const process = new OurProcess({ program, arguments: words, environment: this.plan.environment });
    void process.exited.then((code) => this.#ended(process, code));
    return process;
  }

  #ended(process: OurProcess, code: number | null): void {
    this.#said += `${process.output}\n--- ended with ${code ?? "a signal"}\n`;
    if (this.#closed) return;
    this.#again = setTimeout(() => (this.#process = this.#start()), restartMs);
  }
}
