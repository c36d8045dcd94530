/** Reads a list of findings to its end, page by page. */
import type { FindingRow } from "../../../src/security/findings/lists/list-rows.ts";
import type { FindingPage } from "../../../src/security/findings/lists/search-findings.ts";
import type { Sending } from "../verb.ts";

const pageRows = 200;

export interface FoundFindings {
  findings: FindingRow[];
  /** Whether there are more than `most`. */
  isCut: boolean;
}

/** @param query the filters of `GET /findings`. @param most the list ends after so many @throws CallError */
export async function allFindings(
  { query, most }: { query: Record<string, unknown>; most: number },
  get: Sending["get"],
): Promise<FoundFindings> {
  const findings: FindingRow[] = [];
  let after: string | null = null;
  do {
    const page: FindingPage = pageFrom(await get("/findings", { ...query, limit: pageRows, ...(after !== null && { after }) }));
    findings.push(...page.data);
    after = page.next;
  } while (after !== null && findings.length < most);
  return { findings: findings.slice(0, most), isCut: after !== null || findings.length > most };
}

/** The control API's document states that its answer has these fields. */
export function pageFrom(answer: Record<string, unknown>): FindingPage {
  return answer as unknown as FindingPage;
}
