/**
 * Why a document is refused and what to change: the only error of reading an SBOM. Its message is a complete sentence that names the
 * location; `invalid` also lists the first problems.
 */
import { sbomProblemsMax, sbomProblemsShownMax } from "../limits.ts";

type SbomRefusalCode =
  /** Empty or blank. */
  | "empty"
  /** Larger, deeper or with more values than allowed. */
  | "too_large"
  | "wrong_encoding"
  /** Ends prematurely. */
  | "truncated"
  /** Violates the syntax of JSON, XML or tag-value. */
  | "malformed"
  /** Not an SBOM, or an unsupported kind. */
  | "not_an_sbom"
  | "unsupported_version"
  /** An SBOM that violates the rules of its format. */
  | "invalid";

interface SbomProblem {
  /** Such as `components[12].purl`, `/bom/components/component[13]/purl` or `line 12`. */
  path: string;
  says: string;
}

/** Its message is complete: it names the location and what to change. */
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
