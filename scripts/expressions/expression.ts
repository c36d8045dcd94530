/** A regular expression of this repository. */
export interface Expression {
  source: string;
  flags: string;
  /** `path:line`, for messages. */
  at: string;
}

/** An expression that is put together while the program runs. */
export interface MadeExpression {
  path: string;
  line: number;
  /** As it is written. */
  text: string;
}

/** By which equal expressions are judged once. */
export function keyOf({ source, flags }: Pick<Expression, "source" | "flags">): string {
  return `/${source}/${flags}`;
}
