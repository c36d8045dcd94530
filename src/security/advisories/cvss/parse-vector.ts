/** Parses CVSS vectors exactly as their specifications define them. */
import { cvssVectorCharactersMax } from "../../limits.ts";
import { grammars, type CvssVersion } from "./metrics.ts";

export interface CvssVector {
  version: CvssVersion;
  /** The unchanged text. */
  text: string;
  /** Metric → value, in the order of the vector. */
  metrics: ReadonlyMap<string, string>;
}

export class CvssError extends Error {
  override name = "CvssError";
}

/**
 * The prefix determines the version. Each metric may appear once, mandatory metrics must appear, and each value must be known.
 * @throws CvssError saying what is wrong with the vector
 */
export function parseVector(text: string): CvssVector {
  if (text.length > cvssVectorCharactersMax) {
    throw new CvssError(`The vector has ${text.length} characters; at most ${cvssVectorCharactersMax} are possible`);
  }
  const version = versionOf(text);
  const metrics = metricsOf(text.slice(grammars[version].prefix.length), version);
  for (const [name, { mandatory }] of grammars[version].metrics) {
    if (mandatory && !metrics.has(name)) throw new CvssError(`The CVSS ${version} vector lacks the mandatory metric "${name}"`);
  }
  if (grammars[version].ordered) requireOrder(metrics, version);
  return { version, text, metrics };
}

function versionOf(text: string): CvssVersion {
  const prefix = /^CVSS:[^/]*\/?/i.exec(text)?.[0];
  if (prefix === undefined) return "2.0";
  for (const version of ["3.0", "3.1", "4.0"] as const) if (grammars[version].prefix === prefix) return version;
  throw new CvssError(
    `The vector begins with "${prefix}"; the prefixes are "CVSS:3.0/", "CVSS:3.1/" and "CVSS:4.0/"; 2.0 has none`,
  );
}

function metricsOf(text: string, version: CvssVersion): Map<string, string> {
  const metrics = new Map<string, string>();
  for (const part of text.split("/")) {
    const colon = part.indexOf(":");
    const name = part.slice(0, Math.max(0, colon));
    const value = part.slice(colon + 1);
    const known = grammars[version].metrics.get(name);
    if (known === undefined)
      throw new CvssError(`The CVSS ${version} vector holds "${part}", which is not a metric of that version`);
    if (!known.values.includes(value)) throw new CvssError(`The CVSS ${version} metric "${name}" has no value "${value}"`);
    if (metrics.has(name)) throw new CvssError(`The CVSS ${version} vector holds the metric "${name}" twice`);
    metrics.set(name, value);
  }
  return metrics;
}

function requireOrder(metrics: ReadonlyMap<string, string>, version: CvssVersion): void {
  const right = [...grammars[version].metrics.keys()].filter((name) => metrics.has(name));
  const wrong = [...metrics.keys()].find((name, index) => name !== right[index]);
  if (wrong !== undefined) throw new CvssError(`The CVSS ${version} metric "${wrong}" is not in the order of the specification`);
}
