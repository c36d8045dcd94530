/** Expressions that the check cannot judge or finds slow, each with the reason why its input is bounded. An unused entry fails the check. */
export interface Exception {
  path: string;
  /** The beginning of the expression as it is written. */
  text: string;
  why: string;
}

export const exceptions: readonly Exception[] = [
  {
    path: "src/connectors/catalog/files/rules.ts",
    text: "new RegExp(`(^|[^a-z])(${alternatives})([^a-z]|$)`",
    why: "built from constants; its input is a line of a catalog file, of at most 300 characters, and never comes from outside",
  },
  {
    path: "src/process/leave-port.ts",
    text: "new RegExp(`^ *\\\\d+: [0-9A-F]+:${local}",
    why: "its input is a table of connections that the kernel writes, in fields of a fixed width",
  },
  {
    path: "scripts/run-suite.ts",
    text: 'new RegExp(`^ *(\\\\d+) ${word}$`, "m")',
    why: "built from two constants; its input is the output of the test runner",
  },
  {
    path: "scripts/services/redis.ts",
    text: "new RegExp(`^\\\\+OK\\\\r\\\\n.*?${expect.source}`",
    why: "its input is an answer of less than 4 KiB, from a Redis that the same script started",
  },
];
