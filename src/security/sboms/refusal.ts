/** Why a document is not taken, and what to change. */
import { sbomProblemsMax, sbomProblemsShownMax } from "../limits.ts";

export type SbomRefusalCode =
  /** Nothing, or nothing but blanks. */
  | "empty"
  /** Larger, deeper or with more values than is read. */
  | "too_large"
  | "wrong_encoding"
  /** Ends in the middle. */
  | "truncated"
  /** Not JSON, XML or tag-value as their own rules say. */
  | "malformed"
  /** Something else than an SBOM, or an SBOM of a kind that is not read. */
  | "not_an_sbom"
  | "unsupported_version"
  /** An SBOM that breaks the rules of its own format. */
  | "invalid";

export interface SbomProblem {
  /** Such as `components[12].purl`, `/bom/components/component[13]/purl` or `line 12`. */
  path: string;
  says: string;
}

/** The one thing that reading an SBOM throws. Its message is whole: it names the place, and says what to change. */
export class SbomRefusal extends Error {
  override name = "SbomRefusal";
  readonly code: SbomRefusalCode;
  /** The first problems found; only `invalid` has any. */
  readonly problems: SbomProblem[];

  constructor(code: SbomRefusalCode, message: string, problems: SbomProblem[] = []) {
    super(message);
    this.code = code;
    this.problems = problems;
  }
}

/** @param problems at least one */
export function invalidSbom(problems: SbomProblem[]): SbomRefusal {
  const shown = problems.slice(0, sbomProblemsShownMax);
  const [first] = shown;
  const others = problems.length - 1;
  const counted = problems.length < sbomProblemsMax ? `${others}` : `at least ${others}`;
  const more = others > 0 ? ` (and ${counted} more ${others === 1 ? "problem" : "problems"})` : "";
  return new SbomRefusal("invalid", `${first?.path ?? ""}: ${first?.says ?? "is not valid"}${more}`, shown);
}
