/**
 * The findings of a project and the decisions about them, as a CycloneDX document (VEX).
 *
 * Findings are read in pages, so that neither the database nor the event loop keeps others waiting. Decisions made meanwhile do not change
 * their order. Exports of thousands of findings take turns: one per person, one per workspace, two per process.
 */
import { randomUUID } from "node:crypto";
import { Type, type Static } from "@sinclair/typebox";
import { FairSemaphore } from "../../../accounts/quotas/fair-semaphore.ts";
import type { Database } from "../../../backing/backing.ts";
import { text } from "../../../http/json-schema.ts";
import { isoTime, type Clock } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import * as limits from "../limits.ts";
import { noFinding } from "../lists/list-store.ts";
import { severities } from "../schema.ts";
import { justifications } from "../decision.ts";
import { analysisOf, analysisStates, type Analysis } from "./vex-analysis.ts";
import { selectVexFindings, selectVexKeys, selectVexProject, type VexFinding } from "./vex-store.ts";

const word = <Word extends string>(words: readonly Word[], description: string) =>
  Type.Unsafe<Word>(
    Type.Union(
      words.map((one) => Type.Literal(one)),
      { description },
    ),
  );

const Component = Type.Object({
  type: Type.Literal("library", { description: "library" }),
  "bom-ref": text("What `affects` refers to: its package URL, or its name and version"),
  name: text("Its name"),
  version: text("Its version; empty: the SBOM names none"),
  purl: Type.Optional(text("Its package URL")),
});

const Rating = Type.Object({
  severity: word([...severities, "unknown"], "The severity"),
  score: Type.Optional(Type.Number({ description: "The CVSS score" })),
});

const Vulnerability = Type.Object({
  id: text("Its CVE id, or another id"),
  ratings: Type.Array(Rating, { description: "One" }),
  recommendation: Type.Optional(text("The version to upgrade to")),
  analysis: Type.Object(
    {
      state: word(analysisStates, "What was decided"),
      justification: Type.Optional(word(justifications, "Why it is not affected")),
      response: Type.Optional(Type.Array(Type.String(), { description: "What is done" })),
      detail: Type.Optional(text("The note")),
      lastUpdated: Type.Optional(text("When it was decided, ISO 8601 in UTC")),
    },
    { description: "The decision" },
  ),
  affects: Type.Array(Type.Object({ ref: text("A component's bom-ref") }), { description: "The components that have it" }),
});

export const VexDocument = Type.Object(
  {
    bomFormat: Type.Literal("CycloneDX", { description: "CycloneDX" }),
    specVersion: Type.Literal("1.6", { description: "1.6" }),
    serialNumber: text("A new one for each document"),
    version: Type.Integer({ description: "1" }),
    metadata: Type.Object(
      {
        timestamp: text("Now, ISO 8601 in UTC"),
        component: Type.Object(
          { type: Type.Literal("application", { description: "application" }), name: text("The project's name") },
          { description: "The project" },
        ),
      },
      { description: "What it is about" },
    ),
    components: Type.Array(Component, { description: "The components with findings" }),
    vulnerabilities: Type.Array(Vulnerability, {
      description: `Findings of the current SBOM with the same decision, together; at most the ${limits.vexFindingsMax} most severe`,
    }),
  },
  { description: "A CycloneDX document" },
);
export type VexDocument = Static<typeof VexDocument>;

/**
 * Reads the findings in pages, so that neither the database nor the event loop keeps others waiting.
 * @param project must exist
 */
export async function exportVex(project: string, { sql, clock }: { sql: Database; clock: Clock }): Promise<VexDocument> {
  const yielder = new EventLoopYielder(clock);
  const { name = "" } = (await selectVexProject(project, sql)) ?? {};
  const components = new Map<string, Static<typeof Component>>();
  const groups = new Map<string, [VexFinding, ...VexFinding[]]>();
  for await (const page of worstFindings(project, sql)) {
    for (const finding of page) {
      components.set(refOf(finding), componentOf(finding));
      const key = JSON.stringify([finding.name, finding.fixVersion, analysisOf(finding)]);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [finding]);
      else group.push(finding);
    }
    await yielder.yieldIfDue();
  }
  const vulnerabilities: Static<typeof Vulnerability>[] = [];
  for (const group of [...groups.values()].toSorted(([one], [other]) => inOrder(one, other))) {
    vulnerabilities.push(vulnerabilityOf(group));
    await yielder.yieldIfDue();
  }
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${randomUUID()}`,
    version: 1,
    metadata: { timestamp: isoTime(clock.now()), component: { type: "application", name } },
    components: [...components.values()],
    vulnerabilities,
  };
}

const perPerson = {
  runningMax: Infinity,
  runningPerHolderMax: 1,
  waitingMax: limits.vexExportsWaitingMax,
  waitingPerHolderMax: 1,
  waitMs: limits.vexExportWaitMs,
};
const perWorkspace = { ...perPerson, runningMax: limits.vexExportsAtOnceMax, waitingPerHolderMax: limits.vexExportsWaitingMax };

export class ExportTurns {
  readonly #people: FairSemaphore;
  readonly #workspaces: FairSemaphore;

  constructor(clock: Clock) {
    this.#people = new FairSemaphore({
      clock,
      limits: perPerson,
      busy: "Another export of yours is running: wait until it ends",
    });
    this.#workspaces = new FairSemaphore({ clock, limits: perWorkspace, busy: "Too many exports are running" });
  }

  /** @returns the turn; disposing of it ends it @throws LimitReachedError if the person already has one waiting, or after a long wait */
  async acquire({ person, workspace }: { person: string; workspace: WorkspaceId }): Promise<Disposable> {
    using turn = new DisposableStack();
    turn.defer(await this.#people.acquire(person));
    turn.defer(await this.#workspaces.acquire(workspace));
    return turn.move();
  }
}

/** The most severe findings first. */
async function* worstFindings(project: string, sql: Database): AsyncGenerator<VexFinding[]> {
  const byRank = new Map<number, string[]>();
  let after = noFinding;
  for (let isLast = false; !isLast;) {
    const page = await selectVexKeys({ project, after, limit: limits.vexKeysPerPage }, sql);
    for (const { id, rank, present } of page) {
      const same = byRank.get(rank);
      if (!present) continue;
      if (same === undefined) byRank.set(rank, [id]);
      else same.push(id);
    }
    after = page.at(-1) ?? after;
    isLast = page.length < limits.vexKeysPerPage;
  }
  const ids = [...byRank].toSorted(([one], [other]) => other - one).flatMap(([, of]) => of);
  for (let at = 0; at < Math.min(ids.length, limits.vexFindingsMax); at += limits.vexRowsPerPage) {
    yield await selectVexFindings(ids.slice(at, Math.min(at + limits.vexRowsPerPage, limits.vexFindingsMax)), sql);
  }
}

function refOf({ purl, component, version }: VexFinding): string {
  return purl ?? `${component}@${version}`;
}

function componentOf(finding: VexFinding): Static<typeof Component> {
  const { component: name, version, purl } = finding;
  return { type: "library", "bom-ref": refOf(finding), name, version, ...(purl !== null && { purl }) };
}

function inOrder(one: VexFinding, other: VexFinding): number {
  return other.rank - one.rank || (one.name < other.name ? -1 : one.name > other.name ? 1 : 0);
}

function vulnerabilityOf(findings: readonly [VexFinding, ...VexFinding[]]): Static<typeof Vulnerability> {
  const [{ name, severity, score, fixVersion, decidedAt, ...decided }] = findings;
  const analysis: Analysis = analysisOf(decided);
  return {
    id: name,
    ratings: [{ severity: severity ?? "unknown", ...(score !== null && { score }) }],
    ...(fixVersion !== null && { recommendation: `Upgrade to ${fixVersion}` }),
    analysis: { ...analysis, ...(decidedAt && { lastUpdated: isoTime(decidedAt.getTime()) }) },
    affects: [...new Set(findings.map(refOf))].map((ref) => ({ ref })),
  };
}
