/** The data of the usage part: twelve months of generations, most of them of one workspace. The numbers are fixed, so that runs can be compared. */

export const generations = 10_000_000;
export const months = 12;
/** The number of rows that one transaction of the preparation writes. */
export const batch = 500_000;
/** The number of rows that one step of the roll-up sums, so that the preparation takes minutes. */
export const rollUpRows = 200_000;
export const workspaces = 100;
/** The first workspace has this share; the others share the rest. */
export const largeShare = 0.6;
/** Of the large workspace and, all together, of the others. */
export const keys = { large: 200, others: 990 };
/** Members of the large workspace. Each owns the same number of keys. */
export const members = 50;
export const models = 40;
/** Model n has this share of the rows after the models before it, so that the last ones are rare. */
export const modelShare = 0.2;
/** Each serves the same number of models. */
export const providers = 5;
/** Models from this one on are called by the endpoint of embeddings. */
export const embeddingsFrom = 36;
export const errorShare = 0.02;
/** Requests of the Workbench have a member as their caller. */
export const workbenchShare = 0.01;

export const workspaceId = (n: number): string => `ws-usage-${n}`;
export const keyId = (n: number): string => `key-usage-${n}`;
export const memberEmail = (n: number): string => `member-${n}@bench.test`;

/** The first milliseconds of the months of the data, oldest first, and of the month after them. */
export function monthStarts(): number[] {
  return Array.from({ length: months + 1 }, (_, n) => Date.UTC(2026, n - 2, 1));
}

export function workspaceOfKey(n: number): string {
  return workspaceId(n < keys.large ? 0 : 1 + (n % (workspaces - 1)));
}
