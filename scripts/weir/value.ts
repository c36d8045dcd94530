/**
 * The kinds of values that flags take: their placeholder in the help, and how they become a field of a request.
 *
 * They catch only typing errors; the service checks the rest. Secrets are read from files, because arguments are visible to other users of
 * the machine and stay in the shell's history.
 */
import { readFileSync } from "node:fs";
import { isJsonObject } from "../../src/http/json.ts";

export interface Value {
  /** Shown in the help; empty for a flag that takes no value. */
  placeholder: string;
  /** @throws UsageError when the text is not of this kind. The service checks the rest. */
  read(text: string): unknown;
}

/** The kinds by the names that rows of verbs have. */
export type Kind = keyof typeof kinds;

export const text: Value = { placeholder: "TEXT", read: (given) => given };
const email: Value = { placeholder: "EMAIL", read: (given) => given };
const id: Value = { placeholder: "ID", read: (given) => given };
const time: Value = { placeholder: "TIME", read: (given) => given };
/** A date, a time, or an age before now. */
export const ageOrDate: Value = {
  placeholder: "TIME|AGE",
  read: (given) => timeOfAge(given) ?? (/^\d{4}-\d{2}-\d{2}$/.test(given) ? `${given}T00:00:00Z` : given),
};
/** The same, rounded to the quarter of an hour by which usage is summed; a date stays a date. */
export const timeOrAge: Value = { placeholder: "TIME|AGE", read: (given) => timeOfAge(given, 900_000) ?? given };

/** @returns null unless the text is an age such as 30m, 24h or 7d */
function timeOfAge(given: string, stepMs = 1): string | null {
  const [, count, unit = ""] = /^(\d{1,5})([mhd])$/.exec(given) ?? [];
  if (count === undefined) return null;
  const ms = Date.now() - Number(count) * ({ m: 60_000, h: 3_600_000, d: 86_400_000 }[unit] ?? 0);
  return new Date(ms - (ms % stepMs)).toISOString();
}

const usd: Value = { placeholder: "USD", read: (given) => amount(given, "an amount of USD such as 12.50") };
const usdAboveZero: Value = {
  placeholder: "USD",
  read(given) {
    const words = "an amount above zero, such as 12.50";
    if (/^[0.]+$/.test(amount(given, words))) throw new UsageError(`takes ${words}, and not "${given}"`);
    return given;
  },
};
const usdOrNone: Value = {
  placeholder: "USD|none",
  read: (given) => (given === "none" ? null : amount(given, "an amount of USD such as 12.50, or none")),
};

const numberOrDefault: Value = {
  placeholder: "N|default",
  read: (given) => (given === "default" ? null : wholeNumber(given)),
};

const numberOrNone: Value = {
  placeholder: "N|none",
  read: (given) => (given === "none" ? null : wholeNumber(given)),
};

/** Stays text, since queries are text. */
const rows: Value = { placeholder: "N", read: (given) => requireWholeNumber(given, 18) };

const onOff: Value = {
  placeholder: "on|off",
  read(given) {
    if (given !== "on" && given !== "off") throw new UsageError(`"${given}" is neither on nor off`);
    return given === "on";
  },
};

/** An id or a name; `none` removes the current value. */
const textOrNone: Value = { placeholder: "TEXT|none", read: (given) => (given === "none" ? null : given) };

export const list: Value = {
  placeholder: "LIST",
  read: (given) => given.split(",").map((item) => item.trim()),
};

const listOrNone: Value = {
  placeholder: "LIST|none",
  read: (given) => (given === "none" ? [] : given.split(",").map((item) => item.trim())),
};

/** Whole numbers, separated by commas. */
const numbers: Value = { placeholder: "LIST", read: (given) => given.split(",").map((item) => wholeNumber(item.trim())) };

/** A flag without a value, sent in a body. */
export const yes: Value = { placeholder: "", read: () => true };

/** A flag without a value, sent in a query. */
const present: Value = { placeholder: "", read: () => "true" };

export function oneOf(...choices: string[]): Value {
  return {
    placeholder: choices.join("|"),
    read(given) {
      if (!choices.includes(given)) throw new UsageError(`"${given}" is not one of ${choices.join(", ")}`);
      return given;
    },
  };
}

/** A whole number. */
export const number: Value = { placeholder: "N", read: (given) => wholeNumber(given) };

/** A JSON object in a file, which keeps secrets out of the list of processes and the shell's history. */
const objectFile: Value = {
  placeholder: "FILE|-",
  read(given) {
    try {
      const value: unknown = JSON.parse(readFileSync(given === "-" ? 0 : given, "utf8"));
      if (isJsonObject(value)) return value;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw unreadableFile("a JSON object");
    }
    throw new UsageError("takes a file that has a JSON object, and this one has none");
  },
};

/** A secret in a file, without its line end, for the same reason. */
const secretFile: Value = {
  placeholder: "FILE|-",
  read(given) {
    try {
      return readFileSync(given === "-" ? 0 : given, "utf8").trim();
    } catch {
      throw unreadableFile("the secret");
    }
  },
};

export const kinds = {
  text,
  email,
  id,
  time,
  usd,
  usdAboveZero,
  usdOrNone,
  number,
  numberOrDefault,
  numberOrNone,
  rows,
  onOff,
  textOrNone,
  list,
  listOrNone,
  numbers,
  yes,
  present,
  objectFile,
  secretFile,
} as const;

/** Does not quote the argument: it may be the secret itself, which would stay on the screen and in a CI system's logs. */
function unreadableFile(content: string): UsageError {
  return new UsageError(`takes the path of a file that has ${content}, or - for the standard input; such a file cannot be read`);
}

function amount(given: string, words: string): string {
  if (/^\d{1,12}(\.\d{1,9})?$/.test(given)) return given;
  throw new UsageError(`takes ${words}, and not "${given}"`);
}

function wholeNumber(given: string): number {
  return Number(requireWholeNumber(given, 9));
}

function requireWholeNumber(given: string, digitsMax: number): string {
  if (/^-?\d+$/.test(given) && given.length <= digitsMax) return given;
  throw new UsageError(`"${given}" is not a whole number`);
}

/** The command line is wrong: exit code 2, and nothing was sent. */
export class UsageError extends Error {
  override name = "UsageError";
}
