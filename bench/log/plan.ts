/** The data of the log part: twelve months of generations, half of them of one workspace, with common and rare models, keys and members. */

export const generations = 20_000_000;
export const months = 12;
/** The number of rows that one transaction of the preparation writes. */
export const batch = 500_000;
export const workspaces = 1_000;
/** Of the large workspace and, all together, of the others. */
export const keys = { large: 200, others: 10_000 };
/** Each owns the same number of keys. */
export const membersOfLarge = 50;
export const models = 40;
/** Model n has this share of the rows after the models before it, so that the last ones are rare. */
export const modelShare = 0.35;

export const large = "ws-log-0";
export const workspaceId = (n: number): string => `ws-log-${n}`;
export const keyId = (n: number): string => `key-log-${n}`;
export const member = (n: number): string => `member-${n}@bench.test`;
export const modelId = (n: number): string => `bench/model-${n}`;
