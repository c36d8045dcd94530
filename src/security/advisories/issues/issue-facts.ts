import { issueTextCharactersMax } from "../../limits.ts";
import type { Advisory, DeclaredSeverity } from "../advisory.ts";

/** The data of a record that an issue uses. */
export interface IssueFacts {
  id: string;
  withdrawn: boolean;
  /** RFC 3339; null: unknown. */
  published: string | null;
  /** The beginning of the summary; `details` likewise. */
  summary: string;
  details: string;
  /** Severities of the record and of its packages, without duplicates. */
  severities: DeclaredSeverity[];
}

export function factsOf({ id, withdrawn, published, summary, details, severities, affected }: Advisory): IssueFacts {
  const declared = [...severities, ...affected.flatMap((one) => one.severities)].map(({ type, score }) => ({ type, score }));
  return {
    id,
    withdrawn: withdrawn !== null,
    published,
    summary: beginningOf(summary),
    details: beginningOf(details),
    severities: [...new Map(declared.map((one) => [`${one.type} ${one.score}`, one])).values()],
  };
}

function beginningOf(text: string): string {
  return text.slice(0, issueTextCharactersMax).toWellFormed();
}
