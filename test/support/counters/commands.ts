/** Random operations on counters. Few ids and small numbers, so that they interact. */
import fc from "fast-check";
import type { Resolution } from "../../../src/backing/counters.ts";
import { countedWorkspaces } from "./harness.ts";

const workspace = fc.constantFrom(...countedWorkspaces);
const key = fc.constantFrom<string[]>("k1", "k2");
const generation = fc.integer({ min: 1, max: 14 }).map((number) => `gen-${number}`);
const amount = fc.constantFrom<bigint[]>(0n, 1n, 5n, 10n, 50n);
const balance = fc.constantFrom<bigint[]>(-3n, 0n, 1n, 20n, 100n, 100n, 1_000n, 1_000n);
const limit = fc.option(fc.constantFrom(1n, 10n, 40n, 100n), { freq: 2 });
const version = fc.bigInt(0n, 12n);
const month = fc.constantFrom<string[]>("2026-10", "2026-11", "2026-12", "2027-01");
const months = fc.uniqueArray(fc.record({ month, spent: amount }), { selector: (total) => total.month, maxLength: 3 });

export const budgetNames = ["day:k1", "day:", "month:mbr-1"] as const;
const budgetName = fc.constantFrom<string[]>(...budgetNames);
/** The current period, or one before or after it. */
const periodIn = fc.constantFrom(0, 0, 0, -1, 1);
const budgets = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  {
    weight: 2,
    arbitrary: fc.subarray([...budgetNames], { minLength: 1 }).chain((names) =>
      fc.tuple(
        ...names.map((name) =>
          fc.constantFrom(10n, 40n, 100n, 1_000n).map((most) => ({
            name,
            period: name.startsWith("day:") ? ("day" as const) : ("month" as const),
            limit: most,
            refusal: name === "day:k1" ? ("key_spend_limit_exceeded" as const) : ("account_spend_limit_exceeded" as const),
          })),
        ),
      ),
    ),
  },
);
const budgetTotal = fc.record({ name: budgetName, periodIn, spent: amount });

const request = fc.record({
  generation,
  workspace,
  key,
  fingerprint: fc.oneof({ weight: 9, arbitrary: fc.constant("f00d") }, { weight: 1, arbitrary: fc.constantFrom("f00", "beef") }),
  requestsPerMinute: fc.constantFrom(1, 2, 3, 5, 60),
  amount,
  keyLimit: limit,
  workspaceLimit: limit,
  budgets,
  modelRefusal: fc.option(fc.constant("no_price"), { freq: 9 }).map((refusal) => (refusal === null ? "no_price" : null)),
  /** Relative to the store's clock when it is sent. */
  deadlineIn: fc.constantFrom(null, null, null, null, 0, 2_000, -1),
});

const admit = fc.record({
  kind: fc.constant("admit" as const),
  requests: fc.array(request, { minLength: 1, maxLength: 4 }),
  /** Whether the sender knows the month. */
  inMonth: fc.integer({ min: 0, max: 19 }).map((chance) => chance > 0),
});

const resolutions: Resolution[] = ["settled", "void", "expired", "unknown"];
const resolve = fc.record({
  kind: fc.constant("resolve" as const),
  resolve: fc.array(fc.record({ workspace, generation, as: fc.constantFrom(...resolutions) }), { maxLength: 3 }),
  accounts: fc.array(fc.record({ workspace, balance, sequence: version, months }), { maxLength: 2 }),
  keyMonths: fc.array(fc.record({ workspace, key, month, spent: amount, version, sequence: version }), { maxLength: 3 }),
  budgets: fc.array(fc.record({ workspace, name: budgetName, periodIn, spent: amount, sequence: version }), { maxLength: 2 }),
});

/**
 * What a worker does when a workspace is not ready: reads the store's holds, some reported by a gateway, and the ledger, and
 * loads.
 */
const load = fc.record({
  kind: fc.constant("load" as const),
  account: fc.record({ workspace, balance, sequence: version, months }),
  budgets: fc.uniqueArray(budgetTotal, { selector: ({ name }) => name, maxLength: 3 }),
  /** Whether the holds that the store still has are included; those that ended in the ledger are not. */
  keepsHolds: fc.boolean(),
  reported: fc.array(fc.record({ generation, key, amount }), { maxLength: 2 }),
  windows: fc.array(fc.record({ key, agesMs: fc.array(fc.constantFrom(0, 1, 30_000, 59_999, 60_000), { maxLength: 4 }) }), {
    maxLength: 2,
  }),
});

/** The same for all workspaces and keys, in the current month: most runs need a state to start from. */
const prepare = fc.record({ kind: fc.constant("prepare" as const), balance });

const advance = fc.record({
  kind: fc.constant("advance" as const),
  ms: fc.constantFrom(0, 1, 999, 1_000, 30_000, 59_999, 60_000, 60_001, 1_200_000),
});

/** At most once in a run: the two stores forget expired times at different moments. */
const setBack = fc.record({ kind: fc.constant("set back" as const), ms: fc.constantFrom(1, 1_000, 5_000) });
const toMonthEdge = fc.record({ kind: fc.constant("to month edge" as const), ms: fc.constantFrom(-1, 0) });
const loss = fc.record({ kind: fc.constantFrom("wipe" as const, "restart" as const) });
const look = fc.record({ kind: fc.constant("look" as const), workspace, key: fc.option(key) });

export const command = fc.oneof(
  { weight: 24, arbitrary: admit },
  { weight: 8, arbitrary: resolve },
  { weight: 8, arbitrary: prepare },
  { weight: 3, arbitrary: load },
  { weight: 6, arbitrary: advance },
  { weight: 1, arbitrary: setBack },
  { weight: 1, arbitrary: toMonthEdge },
  { weight: 1, arbitrary: loss },
  { weight: 2, arbitrary: look },
);

export type Command = typeof command extends fc.Arbitrary<infer One> ? One : never;
