/** The state of a connection: what its last test showed. */
import { methodNames } from "../../../connectors/catalog/files/columns.ts";
import type { ConnectionTest, ConnectionView } from "../../../connectors/connections/schema.ts";
import type { Html } from "../../../http/html.ts";
import { badge, type Tone } from "../../look/badge.ts";

type Outcome = ConnectionTest["outcome"];

const outcomes: Record<Outcome, { tone: Tone; word: string }> = {
  works: { tone: "good", word: "works" },
  refused: { tone: "bad", word: "refused" },
  unusable: { tone: "bad", word: "unusable" },
  unreachable: { tone: "warn", word: "unreachable" },
  unexpected: { tone: "warn", word: "unclear" },
};

type Judged = Pick<ConnectionView, "method" | "testable" | "last_test">;

export function connectionBadge({ method, testable, last_test: test }: Judged): Html {
  if (method === "record_only") return badge("neutral", "on record");
  if (test !== null) return badge(outcomes[test.outcome].tone, outcomes[test.outcome].word);
  return testable ? badge("neutral", "not tested") : badge("neutral", "no test");
}

/** What needs attention comes first; then what nobody has tested. */
export function attentionOf({ method, testable, last_test: test }: Judged): number {
  if (test !== null && test.outcome !== "works") return outcomes[test.outcome].tone === "bad" ? 0 : 1;
  if (test === null && testable) return 2;
  return method === "record_only" ? 4 : 3;
}

export function testedWords({ outcome, message }: Pick<ConnectionTest, "outcome" | "message">): string {
  return outcome === "works" ? "The test succeeded: the vendor accepted the credentials." : `The test failed. ${message}.`;
}

export function methodName(method: string): string {
  return Object.entries(methodNames).find(([known]) => known === method)?.[1] ?? method;
}
