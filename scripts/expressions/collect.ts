/**
 * Finds the regular expressions of source files: literals, `new RegExp(…)` of constants, and the `pattern` of schemas. It reads syntax
 * trees and loads no module, so it finds the same in every run. Expressions built from other values are listed separately: only an
 * exception can say that their input is bounded.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { parseSync } from "oxc-parser";

/** A regular expression of this repository. */
export interface Expression {
  source: string;
  flags: string;
  /** `path:line`, for messages. */
  at: string;
}

export interface Collected {
  expressions: Expression[];
  /** The source texts of calls and patterns that are not constants. */
  built: { text: string; at: string }[];
}

/** The key under which equal expressions are judged once. */
export function keyOf({ source, flags }: Pick<Expression, "source" | "flags">): string {
  return `/${source}/${flags}`;
}

/** Reads all files of code in the folders. */
export function collectFrom(root: string, folders: readonly string[]): Collected {
  const files = folders.flatMap((folder) => {
    const paths = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
    return paths.filter((path) => /\.(?:ts|mjs)$/.test(path) && !path.endsWith(".d.ts")).map((path) => `${folder}/${path}`);
  });
  const found = files.toSorted().map((file) => collect(file, readFileSync(join(root, file), "utf8")));
  return { expressions: found.flatMap((one) => one.expressions), built: found.flatMap((one) => one.built) };
}

/** @throws Error when the text is not valid TypeScript */
export function collect(path: string, text: string): Collected {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message ?? ""}`);
  const found: Collected = { expressions: [], built: [] };
  const constants = new Map<unknown, unknown>();
  visit(program, ({ type, id, init }) => {
    if (type === "VariableDeclarator" && isNode(id) && isNode(init)) constants.set(id["name"], init["value"]);
    return true;
  });
  const add = ({ start, end }: Node, written: Written | null): void => {
    const at = `${path}:${text.slice(0, start).split("\n").length}`;
    if (written === null) found.built.push({ text: text.slice(start, end), at });
    else found.expressions.push({ ...written, at });
  };
  visit(program, (node) => {
    const { key, value } = node;
    if (node.type === "Literal" && isNode(node["regex"], "pattern")) add(node, literalOf(node["regex"]));
    else if (isConstructed(node)) {
      const written = constantOf(text.slice(node.start, node.end));
      add(node, written);
      // Its parts are not separate expressions.
      return written === null;
    } else if (node.type === "Property" && isNode(key) && key["name"] === "pattern" && isNode(value) && !isExpression(value)) {
      const source = value["value"] ?? constants.get(value["name"]);
      // TypeBox builds expressions from patterns, without flags.
      add(node, typeof source === "string" ? { source, flags: "" } : null);
    }
    // A key in a destructuring is not a schema's pattern.
    return node.type !== "ObjectPattern";
  });
  return found;
}

type Written = Pick<Expression, "source" | "flags">;

/** The fields of a syntax tree's node that are used here. */
interface Node {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

function isNode(value: unknown, field = "type"): value is Node {
  return typeof value === "object" && value !== null && typeof Object(value)[field] === "string";
}

function literalOf({ pattern, flags }: Node): Written {
  return { source: String(pattern), flags: String(flags) };
}

function isConstructed({ type, callee }: Node): boolean {
  return (type === "NewExpression" || type === "CallExpression") && isNode(callee) && callee["name"] === "RegExp";
}

function isExpression(node: Node): boolean {
  return isNode(node["regex"], "pattern") || isConstructed(node);
}

/** @returns null if it needs more than constants */
function constantOf(text: string): Written | null {
  try {
    const { source, flags } = runInNewContext(text);
    return { source, flags };
  } catch {
    return null;
  }
}

/** @param enter whether to visit the node's children */
function visit(value: unknown, enter: (node: Node) => boolean): void {
  if (Array.isArray(value)) for (const one of value) visit(one, enter);
  else if (isNode(value) && enter(value)) for (const field of Object.values(value)) visit(field, enter);
}
