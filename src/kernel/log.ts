/**
 * Logs with pino: JSON for programs, or for a person at a terminal, lines with time, level, role, event and fields. Loggers are declared
 * here; callers pass typed fields, never requests, bodies or headers. Control characters are written as escapes, because a terminal would
 * obey them.
 */
import { pino, type Logger, type LoggerOptions } from "pino";
import { escaped, showInvisible } from "./text.ts";

export type { Logger } from "pino";

/** "auto": text if standard output is a terminal, else JSON. */
export type LogFormat = "auto" | "text" | "json";

/** @param role of the process, such as "gateway" */
export function openLog({ logLevel: level, logFormat }: { logLevel: string; logFormat: LogFormat }, role: string): Logger {
  const options: LoggerOptions = {
    level,
    base: { role, pid: process.pid },
    timestamp: () => `,"at":"${new Date().toISOString()}"`,
    redact: { paths: ["*.authorization", "authorization", "*.key", "*.token", "*.secret", "*.password"], censor: "[secret]" },
  };
  const { stdout } = process;
  if (logFormat === "json" || (logFormat === "auto" && !stdout.isTTY)) return pino(options);
  const colours = stdout.isTTY && stdout.hasColors();
  const output = pino.destination({ fd: 1, sync: true });
  return pino(options, { write: (line: string) => void output.write(terminalLine(line, { colours })) });
}

/** For tests and tools that write no log. */
export const silentLog: Logger = pino({ level: "silent" });

/** Names and colours by pino's numbers. */
const levels: Record<number, { name: string; colour: number }> = {
  10: { name: "trace", colour: 90 },
  20: { name: "debug", colour: 90 },
  30: { name: "info", colour: 32 },
  40: { name: "warn", colour: 33 },
  50: { name: "error", colour: 31 },
  60: { name: "fatal", colour: 35 },
};

/** @param json a line of the log @returns the line for a terminal, with its line end; a line that is not JSON stays as it is */
export function terminalLine(json: string, { colours }: { colours: boolean }): string {
  const record = parsed(json);
  if (record === null) return json;
  const { level, at, role, pid: _, event, msg, ...fields } = record;
  const paint = (colour: number, text: string): string => (colours ? `\u001b[${colour}m${text}\u001b[0m` : text);
  const { name, colour } = levels[Number(level)] ?? { name: shown(level), colour: 0 };
  const [message, title] = msg === undefined ? [event, ""] : [msg, event === undefined ? "" : ` ${paint(36, shown(event))}`];
  const head = `${paint(90, timeOf(at))} ${paint(colour, name.padEnd(5))} ${paint(90, shown(role))} ${shown(message)}${title}`;
  const [short, long] = partition(Object.entries(fields));
  const pairs = short.map(([field, text]) => ` ${paint(90, `${field}=`)}${text}`).join("");
  const blocks = long.map(([field, text]) => `\n  ${paint(90, `${field}:`)}\n${indented(text)}`).join("");
  return `${head}${pairs}${blocks}\n`;
}

function parsed(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

function shown(value: unknown): string {
  return printable(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
}

/** A terminal would obey control characters, and those that change the direction of writing. */
function printable(text: string): string {
  return showInvisible(text.replaceAll(/\p{Cc}/gu, escaped));
}

/** `12:34:56.789Z` of an ISO time. */
function timeOf(at: unknown): string {
  return shown(at).slice("2026-11-26T".length);
}

/** Fields of one line, and those of several, such as a stack. */
function partition(fields: [string, unknown][]): [[string, string][], [string, string][]] {
  const isLong = (value: unknown): value is string => typeof value === "string" && value.includes("\n");
  const short = fields.flatMap(([name, value]): [string, string][] => (isLong(value) ? [] : [[name, quoted(value)]]));
  const long = fields.flatMap(([name, value]): [string, string][] => (isLong(value) ? [[name, value]] : []));
  return [short, long];
}

function quoted(value: unknown): string {
  if (typeof value === "string" && /^[^\s"=]+$/.test(value)) return shown(value);
  return printable(JSON.stringify(value) ?? "");
}

function indented(text: string): string {
  return text
    .split("\n")
    .map((line) => `    ${printable(line)}`)
    .join("\n");
}
