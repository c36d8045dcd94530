/**
 * What a VEX document says of a project: the findings of its current SBOM, those with the same decision together, the most severe first,
 * and at most `vexFindingsMax`. They are read in pages, so that neither the database nor the event loop keeps others waiting. Decisions made
 * meanwhile do not change their order.
 */
import { randomUUID } from "node:crypto";
import { Type } from "@sinclair/typebox";
import type { Database } from "../../../backing/backing.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import { vexFindingsMax, vexKeysPerPage, vexRowsPerPage } from "../limits.ts";
import { noFinding } from "../lists/list-store.ts";
import type { Severity } from "../schema.ts";
import { selectVexFindings, selectVexKeys, selectVexProject, type VexFinding } from "./vex-store.ts";
import { analysisOf, type Decided } from "./words.ts";

/** The schema of one of a few words. */
export const wordOf = <Word extends string>(words: readonly Word[], description: string) =>
  Type.Unsafe<Word>(
    Type.Union(
      words.map((one) => Type.Literal(one)),
      { description },
    ),
  );

interface VexComponent {
  /** Its package URL, or its name and version. */
  ref: string;
  name: string;
  version: string;
  purl: string | null;
}

/** A vulnerability and the components with the same decision about it. */
export interface VexGroup {
  id: string;
  /** In a few words; empty: no record has any. */
  description: string;
  /** Its other ids. */
  aliases: string[];
  severity: Severity | null;
  score: number | null;
  fixVersion: string | null;
  decided: Decided;
  decidedAt: Date | null;
  components: VexComponent[];
}

export interface VexContent {
  project: string;
  /** The project's. */
  name: string;
  /** Its workspace's name. */
  workspace: string;
  /** The service's, such as https://weir.example.com. */
  publicUrl: string;
  /** The package URL of the SBOM's root; null: it has none. */
  root: string | null;
  /** A UUID, of the document. */
  serial: string;
  /** Now. */
  at: number;
  components: VexComponent[];
  groups: VexGroup[];
}

/** @param project must exist */
export async function contentOf(
  project: string,
  { sql, clock, yielder }: { sql: Database; clock: Clock; yielder: EventLoopYielder },
): Promise<Omit<VexContent, "publicUrl">> {
  const { name = "", workspace = "", root = null } = (await selectVexProject(project, sql)) ?? {};
  const components = new Map<string, VexComponent>();
  const groups = new Map<string, VexGroup & { rank: number }>();
  for await (const page of worstFindings(project, sql)) {
    for (const finding of page) {
      const component = componentOf(finding);
      const known = components.get(component.ref) ?? component;
      components.set(component.ref, known);
      const key = JSON.stringify([finding.name, finding.fixVersion, analysisOf(finding)]);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, groupOf(finding, known));
      else group.components.push(known);
    }
    await yielder.yieldIfDue();
  }
  const sorted = [...groups.values()].toSorted(inOrder);
  for (const group of sorted) group.components = [...new Set(group.components)];
  const of = { project, name, workspace, root, serial: randomUUID(), at: clock.now() };
  return { ...of, components: [...components.values()], groups: sorted };
}

/** The most severe findings first. */
async function* worstFindings(project: string, sql: Database): AsyncGenerator<VexFinding[]> {
  const byRank = new Map<number, string[]>();
  let after = noFinding;
  for (let isLast = false; !isLast;) {
    const page = await selectVexKeys({ project, after, limit: vexKeysPerPage }, sql);
    for (const { id, rank, present } of page) {
      const same = byRank.get(rank);
      if (!present) continue;
      if (same === undefined) byRank.set(rank, [id]);
      else same.push(id);
    }
    after = page.at(-1) ?? after;
    isLast = page.length < vexKeysPerPage;
  }
  const ids = [...byRank].toSorted(([one], [other]) => other - one).flatMap(([, of]) => of);
  for (let at = 0; at < Math.min(ids.length, vexFindingsMax); at += vexRowsPerPage) {
    yield await selectVexFindings(ids.slice(at, Math.min(at + vexRowsPerPage, vexFindingsMax)), sql);
  }
}

function componentOf({ component: name, version, purl }: VexFinding): VexComponent {
  return { ref: purl ?? `${name}@${version}`, name, version, purl };
}

function groupOf(finding: VexFinding, component: VexComponent): VexGroup & { rank: number } {
  const {
    rank,
    name: id,
    names,
    description,
    severity,
    score,
    fixVersion,
    decidedAt,
    status,
    falsePositive,
    note,
    justification,
  } = finding;
  const aliases = names === null ? [] : names.split(" ").filter((name) => name !== id);
  const decided = { status, falsePositive, note, justification };
  return { rank, id, description, aliases, severity, score, fixVersion, decided, decidedAt, components: [component] };
}

function inOrder(one: VexGroup & { rank: number }, other: VexGroup & { rank: number }): number {
  return other.rank - one.rank || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}
