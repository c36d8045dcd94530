/** Parses the commands to the sandbox in a last user message `sandbox: WORD[=VALUE] …`. */

export interface SandboxCommand {
  /** Answer with this status and an error. */
  status: number | null;
  /** Delay before the first event, or before a whole answer. */
  delayMs: number;
  /** Delay between two events. */
  gapMs: number;
  /** Answer with this number of filler tokens. */
  tokens: number | null;
  /** Break the connection after this number of events; break a whole answer in the middle. */
  breakAfter: number | null;
  /** Accept the request and never answer. */
  silent: boolean;
  noUsage: boolean;
  /** Report these counts in place of the true ones. */
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

/** @returns null for an unknown word, so that a mistyped command is not mistaken for a passed test */
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
