/** The data of the console part: what a busy service has after a month. The numbers are fixed, so that runs can be compared. */
import type { Inventory, PlannedProject } from "../lists/plan.ts";

export const generations = 2_000_000;
export const days = 30;
/** The number of generations that one transaction of the preparation writes. */
export const batch = 250_000;
/** The first workspace has most of everything; the others share the rest. */
export const workspaces = 5;
export const largeShare = 0.6;
export const keys = { large: 120, others: 80 };
/** Every tenth key is revoked. */
export const revokedEvery = 10;
/** Members of the large workspace; the first ones own its keys. */
export const members = 300;
export const owners = 40;
/** Members of each other workspace. */
export const membersElsewhere = 10;
export const models = 20;
/** Model n has this share of the rows after the models before it, so that the last ones are rare. */
export const modelShare = 0.25;
export const errorShare = 0.02;
/** Requests of the Workbench have a member as their caller. */
export const workbenchShare = 0.01;
export const auditRows = 10_000;
export const tickets = 2_000;
export const connections = 50;
export const findings = 1_000_000;
export const projects = 2_000;
/** Components of each SBOM. */
export const components = 200;
export const creditUsd = 1_000_000n;
/** The highest rate that the specification allows for a key. */
export const requestsPerMinute = 10_000;

export const workspaceId = (n: number): string => `ws-console-${n}`;
export const workspaceName = (n: number): string => `console-${n}`;
export const memberEmail = (n: number): string => `member-${n}@bench.test`;
export const modelId = (n: number): string => `bench/model-${n}`;

/** The people whose sessions look at pages. They belong to every workspace. */
export const viewers = {
  admin: { email: "admin@bench.test", role: "admin" },
  auditor: { email: "auditor@bench.test", role: "auditor" },
  /** The owner of the most used keys. */
  member: { email: memberEmail(0), role: "member" },
} as const;

export type ViewerName = keyof typeof viewers;

export const inventories: readonly Inventory[] = Array.from({ length: workspaces }, (_, n) => ({
  workspace: workspaceId(n),
  name: `console${"abcde"[n]}`,
  issues: { first: 1, count: 300_000 },
}));

/** The share of findings and projects of a workspace. */
function shareOf(workspace: number): number {
  return workspace === 0 ? largeShare : (1 - largeShare) / (workspaces - 1);
}

/** All projects with their findings: a few large ones, and many small ones. */
export function plannedProjects(): PlannedProject[] {
  let number = 0;
  return inventories.flatMap((inventory, place) => {
    const count = Math.round(projects * shareOf(place));
    const weights = Array.from({ length: count }, (_, n) => 1 / (n + 1) ** 0.6);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const all = findings * shareOf(place);
    return weights.map((weight) => ({ number: number++, inventory, findings: Math.round((weight / total) * all) }));
  });
}
