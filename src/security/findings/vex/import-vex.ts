/** Takes over the decisions of a CycloneDX document (VEX) about the findings of a project. */
import { Type, type Static } from "@sinclair/typebox";
import type { Actor } from "../../../accounts/audit/actor.ts";
import type { Sources } from "../../../accounts/audit/change.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { authorize, writers } from "../../../accounts/workspaces/authorize.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { findingsTriagedMax } from "../../limits.ts";
import { vexStatementsMax, vexUnmatchedShownMax } from "../limits.ts";
import { packageIdentity } from "../../versions/package-name.ts";
import { triageMany } from "../triage/triage-many.ts";
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
 * Decides in groups of findings with the same decision, each group in one transaction; the same document again changes nothing. Of several
 * statements about a finding the last counts.
 * @throws DomainError invalid_body; forbidden for auditors
 */
export async function importVex({ actor, workspace, project, bytes }: VexImport, sources: Sources): Promise<ImportedVex> {
  authorize(actor, { roles: writers, action: "decide about findings" });
  const statements = readVex(bytes);
  const { decisions, unmatched } = await matchStatements(statements, project, sources);
  const changed = [...decisions].filter(([candidate, decided]) => differs(candidate, decided));
  let updated = 0;
  for (const { findings, decided } of groupsOf(changed)) {
    const done = await triageMany({ actor, workspace, findings, ...decided }, sources);
    updated += done.updated.length + done.also_updated;
  }
  return {
    statements: statements.length,
    updated,
    unchanged: decisions.size - changed.length,
    unmatched: unmatched.length,
    unmatched_first: unmatched.slice(0, vexUnmatchedShownMax).map(({ id, ref }) => ({ id, ref })),
  };
}

interface DecidedGroup {
  /** Ids; as many as one call of triage takes. */
  findings: string[];
  decided: { status: Decided["status"]; falsePositive: boolean; note?: string };
}

function* groupsOf(changed: readonly (readonly [Candidate, Decided])[]): Generator<DecidedGroup> {
  for (const [first, ...others] of Map.groupBy(changed, ([, decided]) => JSON.stringify(decided)).values()) {
    if (first === undefined) continue;
    const [, { note, ...decided }] = first;
    const ids = [first, ...others].map(([{ id }]) => id);
    for (let at = 0; at < ids.length; at += findingsTriagedMax) {
      yield { findings: ids.slice(at, at + findingsTriagedMax), decided: { ...decided, ...(note !== null && { note }) } };
    }
  }
}

interface Matched {
  decisions: Map<Candidate, Decided>;
  unmatched: VexStatement[];
}

async function matchStatements(statements: readonly VexStatement[], project: string, { sql }: Sources): Promise<Matched> {
  const named = await selectIssuesNamed([...new Set(statements.map(({ id }) => id))], sql);
  const issues = Map.groupBy(named, ({ name }) => name);
  const ids = [...new Set(named.map(({ issue }) => issue))];
  const limit = vexStatementsMax + 1;
  const candidates = await selectCandidates({ project, issues: ids, limit }, sql);
  if (candidates.length === limit) {
    throw new DomainError(
      "invalid_body",
      `The document is about more than ${vexStatementsMax} findings of the project: divide it`,
    );
  }
  const byIssue = Map.groupBy(candidates, ({ issue }) => issue);
  const decisions = new Map<Candidate, Decided>();
  const unmatched: VexStatement[] = [];
  for (const statement of statements) {
    const possible = (issues.get(statement.id) ?? []).flatMap(({ issue }) => byIssue.get(issue) ?? []);
    const meant = possible.filter((candidate) => isAbout(statement, candidate));
    if (meant.length === 0) unmatched.push(statement);
    for (const candidate of meant) decisions.set(candidate, statement.decided);
  }
  return { decisions, unmatched };
}

function isAbout({ ref, package: named }: VexStatement, { ecosystem, key, version }: Candidate): boolean {
  if (ref === null) return true;
  if (named === null || named.identity !== packageIdentity({ ecosystem, name: key })) return false;
  return named.version === null || named.version === version;
}

function differs(candidate: Candidate, { status, falsePositive, note }: Decided): boolean {
  return candidate.status !== status || candidate.falsePositive !== falsePositive || (note !== null && candidate.note !== note);
}
