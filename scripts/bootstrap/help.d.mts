/** By the script's name. */
export declare const help: Readonly<
  Record<"start" | "test" | "ok" | "cluster" | "mcp" | "chaos" | "simulate" | "alerts" | "mutations" | "check-deploy", string>
>;
