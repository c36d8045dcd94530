/** JSON logs by pino. Loggers are declared here; callers pass typed fields, never requests, bodies or headers. */
import { pino, type Logger } from "pino";

export type { Logger } from "pino";

/** @param role of the process, such as "gateway" */
export function openLog(level: string, role: string): Logger {
  return pino({
    level,
    base: { role, pid: process.pid },
    timestamp: () => `,"at":"${new Date().toISOString()}"`,
    redact: { paths: ["*.authorization", "authorization", "*.key", "*.token", "*.secret", "*.password"], censor: "[secret]" },
  });
}

/** For tests and tools that write no log. */
export const silentLog: Logger = pino({ level: "silent" });
