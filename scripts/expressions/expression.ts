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
