/** A shell into which the blocks of a page are typed, one after another. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { until } from "../support/until.ts";

export interface ShellPlan {
  folder: string;
  environment: Record<string, string>;
}

const blockMsMax = 50_000;

export class TypingShell implements AsyncDisposable {
  readonly #shell: ChildProcessWithoutNullStreams;
  readonly #end = `end-${crypto.randomUUID()}`;
  #output = "";

  constructor({ folder, environment }: ShellPlan) {
    this.#shell = spawn("sh", [], { cwd: folder, env: environment });
    for (const stream of [this.#shell.stdout, this.#shell.stderr]) {
      stream.setEncoding("utf8").on("data", (piece: string) => (this.#output += piece));
    }
  }

  /** @returns what the commands print @throws Error unless the last one ends with 0 */
  async type(commands: string): Promise<string> {
    this.#output = "";
    this.#shell.stdin.write(`${commands.trimEnd()}\nprintf '\\n%s %s\\n' ${this.#end} "$?"\n`);
    await until(() => this.#output.includes(this.#end) || this.#shell.exitCode !== null, blockMsMax);
    const [output = "", code = ""] = this.#output.split(this.#end);
    if (code.trim() !== "0") throw new Error(`${commands.trim()}\nended with ${code.trim()}:\n${output}`);
    return output.trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = new Promise((resolve) => this.#shell.once("exit", resolve));
    this.#shell.kill("SIGKILL");
    if (this.#shell.exitCode === null && this.#shell.signalCode === null) await exited;
  }
}
