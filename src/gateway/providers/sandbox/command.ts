/** What a last user message `sandbox: WORD[=VALUE] …` tells the sandbox to do. */

export interface SandboxCommand {
  /** Answer with this status and an error. */
  status: number | null;
  /** Before the first event, or before a whole answer. */
  delayMs: number;
  /** Between two events. */
  gapMs: number;
  /** Answer with that many tokens of filler. */
  tokens: number | null;
  /** The connection breaks after that many events; a whole answer breaks in the middle. */
  breakAfter: number | null;
  /** Take the request and say nothing for ever. */
  silent: boolean;
  noUsage: boolean;
  /** Tell these counts in place of the true ones. */
  usage: { input: number; output: number } | null;
}

const numbers = { status: "status", delay_ms: "delayMs", gap_ms: "gapMs", tokens: "tokens", break_after: "breakAfter" } as const;

const noCommand: SandboxCommand = {
  status: null,
  delayMs: 0,
  gapMs: 0,
  tokens: null,
  breakAfter: null,
  silent: false,
  noUsage: false,
  usage: null,
};

/** @returns null when a word is not known, so that a mistyped command is not mistaken for a passed test */
export function sandboxCommand(text: string): SandboxCommand | null {
  if (!text.startsWith("sandbox:")) return noCommand;
  let command = noCommand;
  for (const word of text.slice("sandbox:".length).split(/\s+/)) {
    const part = word === "" ? {} : partOf(word);
    if (part === null) return null;
    command = { ...command, ...part };
  }
  return command;
}

function partOf(word: string): Partial<SandboxCommand> | null {
  if (word === "silent") return { silent: true };
  if (word === "no_usage") return { noUsage: true };
  const [, name = "", first, second] = /^([a-z_]+)=(\d{1,9})(?:,(\d{1,9}))?$/.exec(word) ?? [];
  if (name === "usage" && second !== undefined) return { usage: { input: Number(first), output: Number(second) } };
  if (second !== undefined || !isNumberWord(name)) return null;
  const value = Number(first);
  if (name === "status" && (value < 400 || value > 599)) return null;
  return { [numbers[name]]: value };
}

function isNumberWord(name: string): name is keyof typeof numbers {
  return Object.hasOwn(numbers, name);
}
