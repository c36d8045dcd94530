/** Takes over the decisions of a CycloneDX document (VEX) about the findings of a project. */
import { Type, type Static } from "@sinclair/typebox";
import type { Actor } from "../../../accounts/audit/actor.ts";
import { change, type Sources } from "../../../accounts/audit/change.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { authorize, writers } from "../../../accounts/workspaces/authorize.ts";
import { sleep } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import { vexRestMsMax, vexStatementsMax, vexTriagedMax, vexUnmatchedShownMax } from "../limits.ts";
import { authorOf, eventOf, triageIn, type TriageResult } from "../triage/triage.ts";
import { matchStatements, type MatchedStatements } from "./match-statements.ts";
import { readVex, type VexStatement } from "./read-vex.ts";
import { selectCandidates, selectIssuesNamed, type Candidate } from "./vex-store.ts";
import type { Decided } from "./analysis.ts";

export const ImportedVex = Type.Object({
  statements: Type.Integer({
    description: "Statements of the document with a decision, one for each vulnerability and component",
  }),
  updated: Type.Integer({ description: "Findings that changed" }),
  unchanged: Type.Integer({ description: "Findings that had the decision already" }),
  unmatched: Type.Integer({ description: "Statements about no finding of the project's current SBOM" }),
  unmatched_first: Type.Array(
    Type.Object({
      id: Type.String({ description: "The vulnerability" }),
      ref: Type.Union([Type.String(), Type.Null()], { description: "The component as the document refers to it; null: any" }),
    }),
    {
      description: `The first ${vexUnmatchedShownMax} of them`,
    },
  ),
});
export type ImportedVex = Static<typeof ImportedVex>;

interface VexImport {
  actor: Actor;
  workspace: WorkspaceId;
  /** An existing one. */
  project: string;
  bytes: Uint8Array;
}

/**
 * Decides in groups of findings with the same decision, each group in one transaction, and rests between two; the same document again changes nothing. Of several
 * statements about an issue in a package the last counts.
 * @throws DomainError invalid_body; forbidden for auditors
 */
export async function importVex({ actor, workspace, project, bytes }: VexImport, sources: Sources): Promise<ImportedVex> {
  authorize(actor, { roles: writers, action: "decide about findings" });
  const statements = await readVex(bytes, new EventLoopYielder(sources.clock));
  const { pairs, unmatched } = await matched(statements, project, sources);
  let [updated, unchanged] = [0, 0];
  const changed: Changed[] = [];
  for (const { findings, decided, size } of pairs) {
    const different = findings.filter((finding) => differs(finding, decided));
    unchanged += findings.length - different.length;
    const [first] = different;
    if (first !== undefined) changed.push({ finding: first.id, decided, size });
  }
  for (const group of groupsOf(changed)) updated += await decide(group, { actor, workspace }, sources);
  return {
    statements: statements.length,
    updated,
    unchanged,
    unmatched: unmatched.length,
    unmatched_first: unmatched.slice(0, vexUnmatchedShownMax).map(({ id, ref }) => ({ id, ref })),
  };
}

/** A finding whose decision changes; the project's other findings of the issue in the package follow. */
interface Changed {
  finding: string;
  decided: Decided;
  /** How many findings follow, with itself. */
  size: number;
}

/**
 * Decides in transactions of at most `vexTriagedMax` findings, and rests after each. One connection serves everybody where the database is
 * embedded: the next transaction waits as long as this one took.
 * @returns how many findings changed
 * @throws DomainError conflict where others decide otherwise meanwhile, so that it would never end
 */
async function decide(
  { findings, decided, size }: DecidedGroup,
  { actor, workspace }: Pick<VexImport, "actor" | "workspace">,
  sources: Sources,
): Promise<number> {
  const { clock } = sources;
  let changed = 0;
  // Of versions that came meanwhile one transaction decides too.
  let transactionsLeft = Math.ceil(size / vexTriagedMax) + 1;
  for (let left = findings; left.length > 0; transactionsLeft--) {
    if (transactionsLeft === 0) throw contested();
    const startedMs = clock.monotonic();
    const results = await change(actor, sources, async (tx) => {
      const made: TriageResult[] = [];
      const by = { by: authorOf(actor), at: new Date(clock.now()), followersMax: vexTriagedMax };
      for (const finding of left) made.push(await triageIn(tx, { workspace, decided: { ...decided, finding }, ...by }));
      return { result: made, event: made.flatMap((one) => eventOf(one) ?? []) };
    });
    changed += results.filter(changesFinding).length + results.reduce((sum, { followed }) => sum + followed, 0);
    left = results.filter((one) => one.left > 0).map(({ target }) => target.id);
    const tookMs = clock.monotonic() - startedMs;
    if (tookMs >= 1) await sleep(clock, Math.min(tookMs, vexRestMsMax));
  }
  return changed;
}

function contested(): DomainError {
  return new DomainError("conflict", "Others decide about the same findings at this time: import the document again");
}

interface DecidedGroup {
  /** Ids. */
  findings: string[];
  /** How many findings follow, with these. */
  size: number;
  decided: { status: Decided["status"]; falsePositive: boolean; note?: string };
}

function* groupsOf(changed: readonly Changed[]): Generator<DecidedGroup> {
  for (const [first, ...others] of Map.groupBy(changed, ({ decided }) => JSON.stringify(decided)).values()) {
    if (first === undefined) continue;
    const { note, ...decided } = first.decided;
    let findings: string[] = [];
    let size = 0;
    for (const next of [first, ...others]) {
      if (findings.length > 0 && size + next.size > vexTriagedMax) {
        yield { findings, size, decided: { ...decided, ...(note !== null && { note }) } };
        [findings, size] = [[], 0];
      }
      findings.push(next.finding);
      size += next.size;
    }
    yield { findings, size, decided: { ...decided, ...(note !== null && { note }) } };
  }
}

function changesFinding({ changes }: TriageResult): boolean {
  return Object.keys(changes).length > 0;
}

async function matched(statements: readonly VexStatement[], project: string, { sql }: Sources): Promise<MatchedStatements> {
  const named = await selectIssuesNamed([...new Set(statements.map(({ id }) => id))], sql);
  const issues = new Map<string, bigint[]>();
  for (const { name, issue } of named) issues.set(name, [...(issues.get(name) ?? []), issue]);
  const limit = vexStatementsMax + 1;
  const candidates = await selectCandidates({ project, issues: [...new Set(named.map(({ issue }) => issue))], limit }, sql);
  if (candidates.length === limit) {
    throw new DomainError(
      "invalid_body",
      `The document is about more than ${vexStatementsMax} findings of the project: divide it`,
    );
  }
  return matchStatements(statements, { candidates, issues });
}

function differs(candidate: Candidate, { status, falsePositive, note }: Decided): boolean {
  return candidate.status !== status || candidate.falsePositive !== falsePositive || (note !== null && candidate.note !== note);
}
