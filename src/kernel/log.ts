/** Logs by pino, as JSON or for a terminal. Loggers are declared here; callers pass typed fields, never requests, bodies or headers. */
import { pino, type Logger, type LoggerOptions } from "pino";
import { terminalLine } from "./telemetry/terminal-line.ts";

export type { Logger } from "pino";

/** "auto": text where standard output is a terminal, else JSON. */
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
