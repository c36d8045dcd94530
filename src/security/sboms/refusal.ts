/**
 * Why a document is refused and what to change: the only error of reading an SBOM. Its message is a complete sentence that names the
 * location; `invalid` also lists the first problems. What is taken although its format forbids it gives a warning instead: one line for each
 * kind, with the first location and the number of others.
 */
import { shortened } from "../../kernel/text.ts";
import { sbomProblemsMax, sbomProblemsShownMax, sbomWarningCharactersMax, sbomWarningsMax } from "../limits.ts";

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

interface Warning {
  /** Such as `metadata.timestamp`; called only for the first one of a kind. */
  place: () => string;
  /** A clause that follows the place. */
  says: string;
  /** Warnings of one kind share a line; absent: those with the same clause do. */
  kind?: string;
}

/** Collects what was tolerated in a document. */
export class SbomWarnings {
  readonly #kinds = new Map<string, { line: string; others: number }>();
  #beyond = 0;

  add({ place, says, kind = says }: Warning): void {
    const known = this.#kinds.get(kind);
    if (known !== undefined) known.others++;
    else if (this.#kinds.size < sbomWarningsMax) {
      const line = shortened(`${place()}: ${says}`.toWellFormed(), sbomWarningCharactersMax);
      this.#kinds.set(kind, { line, others: 0 });
    } else this.#beyond++;
  }

  /** A few lines, in the order in which their kinds were met. */
  lines(): string[] {
    const lines = [...this.#kinds.values()].map(({ line, others }) => (others === 0 ? line : `${line} (and ${others} more)`));
    return this.#beyond === 0 ? lines : [...lines, `document: has ${this.#beyond} more warnings of other kinds`];
  }
}
