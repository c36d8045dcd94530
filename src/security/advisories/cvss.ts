/**
 * Reads and scores CVSS vectors of versions 2.0, 3.0, 3.1 and 4.0, exactly as FIRST's documents define them. The prefix decides the
 * version.
 *
 * The library scores a broken vector as 0, so it gets only vectors that passed the grammar below: each metric once, mandatory ones
 * present, each value known, and for 4.0 the order of its section 7. A broken vector is an error, never a score of 0.0.
 */
import calculator from "ae-cvss-calculator";
import { cvssVectorCharactersMax } from "../limits.ts";

export type CvssSeverity = "critical" | "high" | "medium" | "low";

export interface CvssScore {
  version: CvssVersion;
  vector: string;
  /**
   * 0.0 to 10.0 with one decimal: the base score of 2.0 and 3.x, and the overall score of 4.0 including threat and environmental metrics.
   */
  score: number;
  /** null: the score is 0.0. */
  severity: CvssSeverity | null;
}

/** @throws CvssError for a text that is not a vector of CVSS 2.0, 3.0, 3.1 or 4.0 */
export function scoreVector(text: string): CvssScore {
  const { version } = parseVector(text);
  const found = scoreOf(version, text);
  if (found === undefined || !(found >= 0 && found <= 10)) throw new CvssError(`The CVSS ${version} vector has no score`);
  // The 2.0 formula gives -0 for a vector without impact.
  const score = found === 0 ? 0 : found;
  return { version, vector: text, score, severity: severityWord(version, score) };
}

/** The severity scales of the specifications; the scale of 2.0 ends at `high`. */
export function severityWord(version: CvssVersion, score: number): CvssSeverity | null {
  if (score === 0) return null;
  if (score >= 9 && version !== "2.0") return "critical";
  if (score >= 7) return "high";
  return score >= 4 ? "medium" : "low";
}

export class CvssError extends Error {
  override name = "CvssError";
}

/** The grammar of each version, with its metrics in the order of the specification. */
export type CvssVersion = "2.0" | "3.0" | "3.1" | "4.0";

interface Metric {
  values: readonly string[];
  /** Whether every vector must have it. */
  mandatory: boolean;
}

interface VectorGrammar {
  /** The prefix of the vector; 2.0 has none. */
  prefix: string;
  /** Whether the order is fixed: 4.0 allows only the order of its specification (section 7). */
  ordered: boolean;
  /** In the order of the specification. */
  metrics: ReadonlyMap<string, Metric>;
}

const base3 = mandatory("AV:NALP AC:LH PR:NLH UI:NR S:UC C:HLN I:HLN A:HLN");
const further3 = optional(
  "E:XHFPU RL:XUWTO RC:XCRU CR:XHML IR:XHML AR:XHML MAV:XNALP MAC:XLH MPR:XNLH MUI:XNR MS:XUC MC:XNLH MI:XNLH MA:XNLH",
);

export const grammars: Readonly<Record<CvssVersion, VectorGrammar>> = {
  "2.0": {
    prefix: "",
    ordered: false,
    metrics: new Map([
      ...mandatory("AV:LAN AC:HML Au:MSN C:NPC I:NPC A:NPC"),
      ...optional(
        "E:U,POC,F,H,ND RL:OF,TF,W,U,ND RC:UC,UR,C,ND CDP:N,L,LM,MH,H,ND TD:N,L,M,H,ND CR:L,M,H,ND IR:L,M,H,ND AR:L,M,H,ND",
      ),
    ]),
  },
  "3.0": { prefix: "CVSS:3.0/", ordered: false, metrics: new Map([...base3, ...further3]) },
  "3.1": { prefix: "CVSS:3.1/", ordered: false, metrics: new Map([...base3, ...further3]) },
  "4.0": {
    prefix: "CVSS:4.0/",
    ordered: true,
    metrics: new Map([
      ...mandatory("AV:NALP AC:LH AT:NP PR:NLH UI:NPA VC:HLN VI:HLN VA:HLN SC:HLN SI:HLN SA:HLN"),
      ...optional("E:XAPU CR:XHML IR:XHML AR:XHML MAV:XNALP MAC:XLH MAT:XNP MPR:XNLH MUI:XNPA MVC:XHLN MVI:XHLN MVA:XHLN"),
      ...optional("MSC:XHLN MSI:XSHLN MSA:XSHLN S:XNP AU:XNY R:XAUI V:XDC RE:XLMH U:X,Clear,Green,Amber,Red"),
    ]),
  },
};

interface CvssVector {
  version: CvssVersion;
  /** The unchanged text. */
  text: string;
  /** Metric → value, in the order of the vector. */
  metrics: ReadonlyMap<string, string>;
}

/** The prefix determines the version. @throws CvssError saying what is wrong with the vector */
function parseVector(text: string): CvssVector {
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

function mandatory(text: string): Map<string, Metric> {
  return metricsFrom(text, true);
}

/** `AV:NALP` gives each letter as a value; longer values are separated by commas. */
function metricsFrom(text: string, isMandatory: boolean): Map<string, Metric> {
  return new Map(
    text.split(" ").map((metric) => {
      const [name = "", values = ""] = metric.split(":");
      return [name, { values: values.split(values.includes(",") ? "," : ""), mandatory: isMandatory }];
    }),
  );
}

function requireOrder(metrics: ReadonlyMap<string, string>, version: CvssVersion): void {
  const right = [...grammars[version].metrics.keys()].filter((name) => metrics.has(name));
  const wrong = [...metrics.keys()].find((name, index) => name !== right[index]);
  if (wrong !== undefined) throw new CvssError(`The CVSS ${version} metric "${wrong}" is not in the order of the specification`);
}

// Deno does not find named exports in a CommonJS module.
const { Cvss2, Cvss3P0, Cvss3P1, Cvss4P0 } = calculator;

function scoreOf(version: CvssVersion, text: string): number | undefined {
  switch (version) {
    case "2.0":
      return new Cvss2(text).calculateScores().base;
    case "3.0":
      return new Cvss3P0(text).calculateScores().base;
    case "3.1":
      return new Cvss3P1(text).calculateScores().base;
    case "4.0":
      return new Cvss4P0(text).calculateScores().overall;
  }
}

function optional(text: string): Map<string, Metric> {
  return metricsFrom(text, false);
}
