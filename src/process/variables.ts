/** Parses values of environment variables; errors name the variable. Only config.ts reads the environment itself. */

export class ConfigError extends Error {
  override name = "ConfigError";
}

export type Environment = Record<string, string | undefined>;

export function text(environment: Environment, name: string, fallback: string): string {
  return environment[name] || fallback;
}

export function integer(environment: Environment, name: string, fallback: number, min: number, max: number): number {
  const value = environment[name];
  if (!value) return fallback;
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < min || number > max) {
    throw new ConfigError(`${name} is "${value}": a whole number from ${min} to ${max} is needed`);
  }
  return number;
}

export function milliseconds(environment: Environment, name: string, fallback: number): number {
  return integer(environment, name, fallback, 1, 86_400_000);
}

export function matching(environment: Environment, name: string, fallback: string, pattern: RegExp, words: string): string {
  const value = text(environment, name, fallback);
  if (!pattern.test(value)) throw new ConfigError(`${name} is "${value}": it takes ${words}`);
  return value;
}

export function oneOf<T extends string>(environment: Environment, name: string, fallback: NoInfer<T>, values: readonly T[]): T {
  const value = text(environment, name, fallback);
  const known = values.find((one) => one === value);
  if (known === undefined) throw new ConfigError(`${name} is "${value}": it takes ${values.join(", ")}`);
  return known;
}
