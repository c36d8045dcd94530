/**
 * Applies the decisions of a CycloneDX document (VEX) to the findings of a project.
 *
 * Findings with the same decision are decided in groups. Each group is one transaction, followed by a rest, because an embedded database
 * has one connection for everyone. Importing the same document again changes nothing. If several statements are about an issue in a
 * package, the last one counts. Matching takes time in proportion to statements plus findings, not to their product.
 *
 * Statements without an analysis, and statements that match no finding, decide nothing; the answer names some of the latter.
 */
import { Type, type Static } from "@sinclair/typebox";
import { type Actor, authorize, writers } from "../../../accounts/audit/actor.ts";
import { change, type Sources } from "../../../accounts/audit/change.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { sleep } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import { packageIdentity } from "../../versions/ecosystem.ts";
import { vexRestMsMax, vexStatementsMax, vexTriagedMax, vexUnmatchedShownMax } from "../limits.ts";
import type { DecisionFields } from "../decision.ts";
import { readVex, type VexStatement } from "./read-vex.ts";
import { authorOf, eventOf, triageIn, type TriageResult } from "./triage.ts";
import type { Decided } from "./vex-analysis.ts";
import { selectCandidates, selectIssuesNamed, type Candidate } from "./vex-store.ts";

const unmatchedReasons = ["unknown_vulnerability", "no_finding", "other_component", "unknown_reference"] as const;
type UnmatchedReason = (typeof unmatchedReasons)[number];

export const ImportedVex = Type.Object({
  statements: Type.Integer({
    description: "Statements of the document with a decision, one for each vulnerability and component",
  }),
  updated: Type.Integer({ description: "Findings that changed" }),
  unchanged: Type.Integer({ description: "Findings that already had the decision" }),
  unmatched: Type.Integer({ description: "Statements about no finding of the project's current SBOM" }),
  unmatched_first: Type.Array(
    Type.Object({
      id: Type.String({ description: "The vulnerability" }),
      ref: Type.Union([Type.String(), Type.Null()], { description: "The component as the document refers to it; null: any" }),
      reason: Type.Union(
        unmatchedReasons.map((reason) => Type.Literal(reason)),
        {
          description:
            "`unknown_vulnerability`: no advisory has the id; `no_finding`: the project has no finding of the vulnerability; " +
            "`other_component`: it has, but not in this component and version; `unknown_reference`: the reference names no package",
        },
      ),
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
  /** Must exist. */
  project: string;
  bytes: Uint8Array;
}

/** Applies the document's decisions. @throws DomainError invalid_body; forbidden for auditors */
export async function importVex({ actor, workspace, project, bytes }: VexImport, sources: Sources): Promise<ImportedVex> {
  authorize(actor, { roles: writers, action: "decide about findings" });
  const statements = await readVex(bytes, new EventLoopYielder(sources.clock));
  const known = await knownOf(statements, project, sources);
  const { pairs, unmatched } = matchStatements(statements, known);
  const found = new Set(known.candidates.map(({ issue }) => issue));
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
    unmatched_first: unmatched
      .slice(0, vexUnmatchedShownMax)
      .map((statement) => ({ id: statement.id, ref: statement.ref, reason: reasonOf(statement, { ...known, found }) })),
  };
}

/** A finding whose decision changes; the project's other findings of the issue in the package follow. */
interface Changed {
  finding: string;
  decided: Decided;
  /** How many findings follow, including itself. */
  size: number;
}

/** A decision is stored for an issue in a package of the project: all versions follow it. */
interface PairDecision {
  decided: Decided;
  /** The findings that statements match. */
  findings: Candidate[];
  /** How many findings follow the decision. */
  size: number;
}

interface MatchedStatements {
  pairs: PairDecision[];
  /** Statements that match no finding. */
  unmatched: VexStatement[];
}

/** What statements may be about. */
interface Known {
  candidates: readonly Candidate[];
  /** By the ids in statements. */
  issues: ReadonlyMap<string, readonly bigint[]>;
}

/** If several statements are about an issue in a package, the last one counts. */
export function matchStatements(statements: readonly VexStatement[], { candidates, issues }: Known): MatchedStatements {
  const index = indexOf(candidates);
  const sizes = new Map<string, number>();
  for (const candidate of candidates) sizes.set(pairOf(candidate), (sizes.get(pairOf(candidate)) ?? 0) + 1);
  const pairs = new Map<string, PairDecision>();
  const taken = new Set<Candidate | readonly Candidate[]>();
  const unmatched: VexStatement[] = [];
  for (const statement of statements.toReversed()) {
    const found = (issues.get(statement.id) ?? []).flatMap((issue) => {
      const meant = index.get(keyOf(issue, statement));
      return meant === undefined ? [] : [meant];
    });
    if (found.length === 0) unmatched.push(statement);
    for (const meant of found) {
      // Candidates matched by several statements are visited once.
      if (taken.has(meant)) continue;
      taken.add(meant);
      for (const candidate of meant) {
        if (taken.has(candidate)) continue;
        taken.add(candidate);
        const pair = pairOf(candidate);
        const known = pairs.get(pair);
        const size = sizes.get(pair) ?? 1;
        if (known === undefined) pairs.set(pair, { decided: statement.decided, findings: [candidate], size });
        else known.findings.push(candidate);
      }
    }
  }
  return { pairs: [...pairs.values()].toReversed(), unmatched: unmatched.toReversed() };
}

/** Why a statement matches no finding. @param found the issues of which the project has findings */
function reasonOf(
  { id, ref, package: named }: VexStatement,
  { issues, found }: Pick<Known, "issues"> & { found: ReadonlySet<bigint> },
): UnmatchedReason {
  const of = issues.get(id) ?? [];
  if (of.length === 0) return "unknown_vulnerability";
  if (!of.some((issue) => found.has(issue))) return "no_finding";
  return ref !== null && named === null ? "unknown_reference" : "other_component";
}

async function knownOf(statements: readonly VexStatement[], project: string, { sql }: Sources): Promise<Known> {
  const named = await selectIssuesNamed([...new Set(statements.map(({ id }) => id))], sql);
  const issues = new Map<string, bigint[]>();
  for (const { name, issue } of named) issues.set(name, [...(issues.get(name) ?? []), issue]);
  const limit = vexStatementsMax + 1;
  const candidates = await selectCandidates({ project, issues: [...new Set(named.map(({ issue }) => issue))], limit }, sql);
  if (candidates.length === limit) {
    throw new DomainError(
      "invalid_body",
      `The document is about more than ${vexStatementsMax} findings of the project: split it`,
    );
  }
  return { candidates, issues };
}

function differs(candidate: Candidate, { status, falsePositive, note, justification }: Decided): boolean {
  if (candidate.status !== status || candidate.falsePositive !== falsePositive) return true;
  return (note !== null && candidate.note !== note) || (status === "not_affected" && candidate.justification !== justification);
}

interface DecidedGroup {
  /** Ids of findings. */
  findings: string[];
  /** How many findings follow, including these. */
  size: number;
  decided: DecisionFields;
}

function* groupsOf(changed: readonly Changed[]): Generator<DecidedGroup> {
  for (const [first, ...others] of Map.groupBy(changed, ({ decided }) => JSON.stringify(decided)).values()) {
    if (first === undefined) continue;
    const { note, justification, status, falsePositive } = first.decided;
    const decided = {
      status,
      falsePositive,
      ...(note !== null && { note }),
      ...(status === "not_affected" && { justification }),
    };
    let findings: string[] = [];
    let size = 0;
    for (const next of [first, ...others]) {
      if (findings.length > 0 && size + next.size > vexTriagedMax) {
        yield { findings, size, decided };
        [findings, size] = [[], 0];
      }
      findings.push(next.finding);
      size += next.size;
    }
    yield { findings, size, decided };
  }
}

/**
 * Decides in transactions of at most `vexTriagedMax` findings. After each, the next one waits as long as it took.
 * @returns how many findings changed
 * @throws DomainError conflict if others keep changing the same decisions, so that it would never end
 */
async function decide(
  { findings, decided, size }: DecidedGroup,
  { actor, workspace }: Pick<VexImport, "actor" | "workspace">,
  sources: Sources,
): Promise<number> {
  const { clock } = sources;
  let changed = 0;
  // One more transaction than the findings need, for versions that were added meanwhile.
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
  return new DomainError("conflict", "Others are deciding about the same findings: import the document again");
}

function changesFinding({ changes }: TriageResult): boolean {
  return Object.keys(changes).length > 0;
}

/** The findings by what statements name: the issue, the issue in a package, or the issue in a version of it. */
function indexOf(candidates: readonly Candidate[]): Map<string, Candidate[]> {
  const index = new Map<string, Candidate[]>();
  const identities = new Map<bigint, string>();
  for (const candidate of candidates) {
    const { issue, package: id, ecosystem, key: name, version } = candidate;
    const identity = identities.get(id) ?? packageIdentity({ ecosystem, name });
    identities.set(id, identity);
    for (const named of [null, { identity, version: null }, { identity, version }]) {
      const key = keyOf(issue, { ref: named && identity, package: named });
      const same = index.get(key);
      if (same === undefined) index.set(key, [candidate]);
      else same.push(candidate);
    }
  }
  return index;
}

/** A statement whose reference names no package matches no finding. */
function keyOf(issue: bigint, { ref, package: named }: Pick<VexStatement, "ref" | "package">): string {
  if (ref === null) return String(issue);
  return named === null ? "" : JSON.stringify([String(issue), named.identity, named.version]);
}

function pairOf({ package: id, issue }: Candidate): string {
  return `${id} ${issue}`;
}
