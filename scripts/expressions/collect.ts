/** Finds the regular expressions of source files: literals, `new RegExp(…)`, and the `pattern` of schemas. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "oxc-parser";

interface Collected {
  expressions: Expression[];
  /** `new RegExp(…)`, and patterns whose text is not a constant of the file. */
  made: MadeExpression[];
}

/** The fields of a syntax tree's node that are used here. */
interface Node {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

/** Reads all files of code in the folders. */
export function collectFrom(root: string, folders: readonly string[]): Collected {
  const all: Collected = { expressions: [], made: [] };
  for (const folder of folders) {
    const paths = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
    for (const path of paths.filter((name) => /\.(?:ts|mjs)$/.test(name) && !name.endsWith(".d.ts")).toSorted()) {
      const { expressions, made } = collect(`${folder}/${path}`, readFileSync(join(root, folder, path), "utf8"));
      all.expressions.push(...expressions);
      all.made.push(...made);
    }
  }
  return all;
}

/** @throws Error when the text is not valid TypeScript */
export function collect(path: string, text: string): Collected {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message ?? ""}`);
  const found: Collected = { expressions: [], made: [] };
  const lineOf = (node: Node) => text.slice(0, node.start).split("\n").length;
  const add = (node: Node, written: { source: string; flags: string } | null) => {
    const line = lineOf(node);
    if (written !== null) found.expressions.push({ ...written, at: `${path}:${line}` });
    else found.made.push({ path, line, text: text.slice(node.start, node.end) });
  };
  const texts = textsIn(program);
  visit(program, (node) => {
    const literal = literalOf(node);
    if (literal !== null) add(node, literal);
    else if (isConstructed(node)) add(node, null);
    else if (isPattern(node)) add(node, patternOf(node["value"], texts));
    // A key of a destructuring is no schema's pattern.
    return node.type !== "ObjectPattern";
  });
  return found;
}

/** TypeBox builds expressions from patterns, without flags. @returns null when the pattern is no constant of the file */
function patternOf({ value, name }: Node, texts: ReadonlyMap<unknown, string>): { source: string; flags: string } | null {
  const source = typeof value === "string" ? value : texts.get(name);
  return source === undefined ? null : { source, flags: "" };
}

/** The file's string constants, by their names. */
function textsIn(program: unknown): Map<unknown, string> {
  const texts = new Map<unknown, string>();
  visit(program, ({ type, id, init }) => {
    if (type === "VariableDeclarator" && isNode(id) && isNode(init) && typeof init["value"] === "string") {
      texts.set(id["name"], init["value"]);
    }
    return true;
  });
  return texts;
}

function literalOf(node: Node): { source: string; flags: string } | null {
  const { regex } = node;
  if (node.type !== "Literal" || typeof regex !== "object" || regex === null) return null;
  const { pattern, flags } = regex as { pattern: string; flags: string };
  return { source: pattern, flags };
}

function isConstructed(node: Node): boolean {
  const { callee } = node;
  return (node.type === "NewExpression" || node.type === "CallExpression") && isNode(callee) && callee["name"] === "RegExp";
}

/** Whether the node is `pattern: …` with a value that is no regular expression itself. */
function isPattern(node: Node): node is Node & { value: Node } {
  const { key, value } = node;
  if (node.type !== "Property" || !isNode(key) || key["name"] !== "pattern" || !isNode(value)) return false;
  return literalOf(value) === null && !isConstructed(value);
}

/** @param enter whether to visit the node's children */
function visit(value: unknown, enter: (node: Node) => boolean): void {
  if (Array.isArray(value)) for (const one of value) visit(one, enter);
  else if (isNode(value) && enter(value)) for (const field of Object.values(value)) visit(field, enter);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** A regular expression of this repository. */
export interface Expression {
  source: string;
  flags: string;
  /** `path:line`, for messages. */
  at: string;
}

/** An expression that the program builds while it runs. */
export interface MadeExpression {
  path: string;
  line: number;
  /** The source text of the call that builds it. */
  text: string;
}

/** The key under which equal expressions are judged once. */
export function keyOf({ source, flags }: Pick<Expression, "source" | "flags">): string {
  return `/${source}/${flags}`;
}

/** Finds the text of an expression that its module builds: loads the module and records its calls of `RegExp`. */

/** @returns none where the module builds it only at run time */
export async function evaluated(root: string, { path, line }: MadeExpression): Promise<Expression[]> {
  const made: Expression[] = [];
  const { RegExp: native } = globalThis;
  globalThis.RegExp = new Proxy(native, {
    construct(target, given: [string, string?]) {
      const expression = new target(...given);
      const { source, flags } = expression;
      if (new Error().stack?.includes(`${path}:${line}:`)) made.push({ source, flags, at: `${path}:${line}` });
      return expression;
    },
  });
  try {
    // With its own query, the module is loaded again even if it was loaded before.
    await import(`${join(root, path)}?line=${line}`);
  } finally {
    globalThis.RegExp = native;
  }
  return made;
}
