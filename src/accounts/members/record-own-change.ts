import type { Transaction } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import { change } from "../audit/change.ts";
import type { Changes } from "../audit/changes.ts";
import { selectMemberships } from "./member-store.ts";
import type { Person } from "./principal.ts";

/** Records what a person did to their own account, in each workspace that they have joined, under the role there. Part of the change's transaction. */
export async function recordOwnChange(
  { person: { email, carriedBy }, event, changes }: { person: Person; event: string; changes: Changes },
  { tx, clock }: { tx: Transaction; clock: Clock },
): Promise<void> {
  for (const { workspace, role } of await selectMemberships(email, tx)) {
    const actor = { kind: "member", email, role, carriedBy } as const;
    await change(actor, { sql: tx, clock }, async () => ({ result: null, event: { event, workspace, target: email, changes } }));
  }
}
