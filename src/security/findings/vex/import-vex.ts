/**
 * Applies the decisions of a VEX document to the findings of a project.
 *
 * A statement that names versions decides about these alone, also where the project has others of the package. Only a statement about all
 * versions is stored for the package, and so holds for later versions too.
 *
 * Findings with the same decision are decided in groups. Each group is one transaction, followed by a rest, because an embedded database
 * has one connection for everyone. Importing the same document again changes nothing.
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
import { authorOf, eventOf, triageIn, type TriageResult } from "../triage/triage.ts";
import {
  matchStatements,
  unmatchedWords,
  type Known,
  type UnmatchedReason,
  type KnownSbom,
  type MatchedStatements,
} from "./match-statements.ts";
import { readVex } from "./read-vex.ts";
import { packageOf, productNamed, serialOf, type NamedPackage, type VexStatement } from "./statement.ts";
import { selectCandidates, selectCurrentSbom, selectIssuesNamed, selectRefs, type Candidate } from "./vex-store.ts";
import type { Decided } from "./words.ts";

const reasons = Object.keys(unmatchedWords) as UnmatchedReason[];

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
        reasons.map((reason) => Type.Literal(reason)),
        { description: reasons.map((reason) => `\`${reason}\`: ${unmatchedWords[reason]}`).join("; ") },
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
  const yielder = new EventLoopYielder(sources.clock);
  const statements = await readVex(bytes, yielder);
  const known = await knownOf(statements, { project, yielder }, sources);
  const { decisions, unmatched } = await matchStatements(statements, known, yielder);
  let updated = 0;
  const changed = changedBy(decisions, known.candidates);
  for (const group of groupsOf(changed)) updated += await decide(group, { actor, workspace }, sources);
  return {
    statements: statements.length,
    updated,
    unchanged: decisions.size - [...decisions].filter(([finding, { statement }]) => differs(finding, statement.decided)).length,
    unmatched: unmatched.length,
    unmatched_first: unmatched
      .slice(0, vexUnmatchedShownMax)
      .map(({ statement: { ids, ref }, reason }) => ({ id: ids[0], ref, reason })),
  };
}

/** A finding whose decision changes. */
interface Changed {
  finding: string;
  decided: Decided;
  /** How many findings follow, including itself. */
  size: number;
  /** Whether it is decided about alone, and other versions keep what they have. */
  isAlone: boolean;
}

/** One of the findings of an issue in a package speaks for all of them, if all are decided alike by statements about all versions. */
function changedBy(decisions: MatchedStatements["decisions"], candidates: readonly Candidate[]): Changed[] {
  const changed: Changed[] = [];
  for (const pair of Map.groupBy(candidates, pairOf).values()) {
    const made = pair.flatMap((finding) => {
      const decision = decisions.get(finding);
      return decision === undefined ? [] : [{ finding, ...decision }];
    });
    const different = made.filter(({ finding, statement }) => differs(finding, statement.decided));
    const [first] = different;
    if (first === undefined) continue;
    const { decided } = first.statement;
    const isWhole = made.length === pair.length && made.every((one) => one.isOfAllVersions && one.statement.decided === decided);
    if (isWhole) changed.push({ finding: first.finding.id, decided, size: pair.length, isAlone: false });
    else
      for (const { finding, statement } of different)
        changed.push({ finding: finding.id, decided: statement.decided, size: 1, isAlone: true });
  }
  return changed;
}

function pairOf({ package: id, issue }: Candidate): string {
  return `${id} ${issue}`;
}

interface Reading {
  project: string;
  yielder: EventLoopYielder;
}

async function knownOf(statements: readonly VexStatement[], { project, yielder }: Reading, { sql }: Sources): Promise<Known> {
  const lists = new Set(statements.map(({ ids }) => ids));
  const named = await selectIssuesNamed([...new Set([...lists].flat())], sql);
  const issues = new Map<string, bigint[]>();
  for (const { name, issue } of named) issues.set(name, [...(issues.get(name) ?? []), issue]);
  await yielder.yieldIfDue();
  const limit = vexStatementsMax + 1;
  const candidates = await selectCandidates({ project, issues: [...new Set(named.map(({ issue }) => issue))], limit }, sql);
  if (candidates.length === limit) {
    throw new DomainError(
      "invalid_body",
      `The document is about more than ${vexStatementsMax} findings of the project: split it`,
    );
  }
  return { candidates, issues, sbom: await sbomOf(candidates, { project, refs: statements.flatMap(refsOf) }, sql) };
}

/** The bom-refs of the SBOM that a statement may mean. */
function refsOf({ about }: VexStatement): string[] {
  return about.kind === "reference" && about.bomRef !== null ? [about.bomRef] : [];
}

async function sbomOf(
  candidates: readonly Candidate[],
  { project, refs }: { project: string; refs: readonly string[] },
  sql: Sources["sql"],
): Promise<KnownSbom> {
  const current = await selectCurrentSbom(project, sql);
  const { documentId = null, rootRef = null, rootPurl = null, rootName = null, rootVersion = null } = current ?? {};
  const packages = new Map(candidates.map((one) => [one.package, one]));
  const found =
    current === undefined || refs.length === 0
      ? []
      : await selectRefs({ sbom: current.id, packages: [...packages.keys()], refs: [...new Set(refs)] }, sql);
  const named = found.flatMap(({ ref, package: id, version }) => {
    const of = packages.get(id);
    if (of === undefined) return [];
    const { ecosystem, key } = of;
    return [[ref, { identity: packageIdentity({ ecosystem, name: key }), ecosystem, version }] as const];
  });
  const root = packageOf(rootPurl);
  return {
    serial: serialOf(documentId),
    rootRef,
    root: root && { ...root, version: root.version ?? rootVersion },
    rootByName: productNamed(rootName, rootVersion),
    rootVersion: rootVersion ?? root?.version ?? null,
    refs: new Map<string, NamedPackage>(named),
  };
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
  isAlone: boolean;
}

function* groupsOf(changed: readonly Changed[]): Generator<DecidedGroup> {
  for (const [first, ...others] of Map.groupBy(changed, ({ decided, isAlone }) => JSON.stringify([decided, isAlone])).values()) {
    if (first === undefined) continue;
    const { isAlone } = first;
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
        yield { findings, size, decided, isAlone };
        [findings, size] = [[], 0];
      }
      findings.push(next.finding);
      size += next.size;
    }
    yield { findings, size, decided, isAlone };
  }
}

/**
 * Decides in transactions of at most `vexTriagedMax` findings. After each, the next one waits as long as it took.
 * @returns how many findings changed
 * @throws DomainError conflict if others keep changing the same decisions, so that it would never end
 */
async function decide(
  { findings, decided, size, isAlone }: DecidedGroup,
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
      const by = { by: authorOf(actor), at: new Date(clock.now()), followersMax: vexTriagedMax, isAlone };
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
