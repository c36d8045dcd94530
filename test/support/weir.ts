/** The command line as a person types it, against the control API over a test's database. */
import { expect } from "bun:test";
import { run } from "../../scripts/weir/run.ts";
import { objectOf, operatorToken, type Control } from "./control.ts";

export interface Outcome {
  code: number;
  out: string;
  error: string;
}

export class Weir implements AsyncDisposable {
  /** The operator's, unless a test sets a tools key. */
  token = operatorToken;
  readonly #server: { url: string; stop(): Promise<void> };

  constructor(control: Control) {
    this.#server = control.listen();
  }

  get url(): string {
    return this.#server.url;
  }

  async run(...words: string[]): Promise<Outcome> {
    const outcome: Outcome = { code: -1, out: "", error: "" };
    const terminal = {
      out: (text: string) => void (outcome.out += `${text}\n`),
      error: (text: string) => void (outcome.error += `${text}\n`),
    };
    outcome.code = await run(
      words,
      {
        service: () => ({ url: this.url, token: this.token }),
        files: () => ({ catalogDir: "./catalog-data" }),
        hasToolsKey: () => this.token !== operatorToken,
      },
      terminal,
    );
    return outcome;
  }

  /** The one JSON document of a command that must succeed with an empty stderr. */
  async json(...words: string[]): Promise<Record<string, unknown>> {
    const { code, out, error } = await this.run(...words, "--json");
    expect([code, error]).toEqual([0, ""]);
    return objectOf(JSON.parse(out));
  }

  /** The message of a command that must be refused with an empty stdout. */
  async refusal(...words: string[]): Promise<string> {
    const { code, out, error } = await this.run(...words, "--json");
    expect([code, out]).toEqual([1, ""]);
    return error.trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop();
  }
}
