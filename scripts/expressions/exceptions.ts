/** Expressions that the check cannot judge, or finds slow: each with why what it meets is bounded. An entry without a use fails. */
export interface Exception {
  path: string;
  /** The beginning of the expression as it is written. */
  text: string;
  why: string;
}

export const exceptions: readonly Exception[] = [
  {
    path: "src/connectors/catalog/rules.ts",
    text: "new RegExp(`(^|[^a-z])(${alternatives})([^a-z]|$)`",
    why: "of words of our own, for lines of the catalog's files of at most 300 characters; nobody outside sends one",
  },
  {
    path: "src/process/handshakes.ts",
    text: "new RegExp(`^ *\\\\d+: [0-9A-F]+:${local}",
    why: "for the tables of connections that the kernel writes, in fields of a fixed width",
  },
  {
    path: "scripts/run-suite.ts",
    text: 'new RegExp(`^ *(\\\\d+) ${word}$`, "m")',
    why: "for what the test runner prints, and of two words of our own",
  },
  {
    path: "scripts/services/redis.ts",
    text: "new RegExp(`^\\\\+OK\\\\r\\\\n.*?${expect.source}`",
    why: "for answers of a Redis that the same script has started, of less than 4 KiB",
  },
];
