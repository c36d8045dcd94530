/** Kinds of values that flags take: how each is shown in the help, and read into the field of a request. */
import { readFileSync } from "node:fs";
import { UsageError } from "./usage-error.ts";

export interface Value {
  /** Shown in the help; empty for a flag that takes no value. */
  words: string;
  /** @throws UsageError when the text is not of this kind; what the service judges is left to the service */
  read(text: string): unknown;
}

export const text: Value = { words: "TEXT", read: (given) => given };
export const email: Value = { words: "EMAIL", read: (given) => given };
export const id: Value = { words: "ID", read: (given) => given };
export const time: Value = { words: "TIME", read: (given) => given };
export const usd: Value = { words: "USD", read: (given) => given };
export const usdOrNone: Value = { words: "USD|none", read: (given) => (given === "none" ? null : given) };

export const numberOrDefault: Value = {
  words: "N|default",
  read: (given) => (given === "default" ? null : wholeNumber(given)),
};

/** Queries are text, so a number of rows stays text. */
export const rows: Value = { words: "N", read: (given) => String(wholeNumber(given)) };

export const onOff: Value = {
  words: "on|off",
  read(given) {
    if (given !== "on" && given !== "off") throw new UsageError(`"${given}" is neither on nor off`);
    return given === "on";
  },
};

/** An id or a name; none takes away what there is. */
export const textOrNone: Value = { words: "TEXT|none", read: (given) => (given === "none" ? null : given) };

export const listOrNone: Value = {
  words: "LIST|none",
  read: (given) => (given === "none" ? [] : given.split(",").map((item) => item.trim())),
};

/** A flag that is there or not. */
export const present: Value = { words: "", read: () => "true" };

export function oneOf(...choices: string[]): Value {
  return {
    words: choices.join("|"),
    read(given) {
      if (!choices.includes(given)) throw new UsageError(`"${given}" is not one of ${choices.join(", ")}`);
      return given;
    },
  };
}

/** The number of one of several, from 0. */
export const index: Value = { words: "N", read: (given) => wholeNumber(given) };

/** A JSON object in a file: what is secret stays out of the list of processes and of the shell's memory. */
export const objectFile: Value = {
  words: "FILE|-",
  read(given) {
    try {
      const value: unknown = JSON.parse(readFileSync(given === "-" ? 0 : given, "utf8"));
      if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw new UsageError(`"${given}" cannot be read`);
    }
    throw new UsageError(`"${given}" holds no JSON object`);
  },
};

function wholeNumber(given: string): number {
  if (!/^-?\d{1,9}$/.test(given)) throw new UsageError(`"${given}" is no whole number`);
  return Number(given);
}
