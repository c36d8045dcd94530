import type { Transaction } from "../../backing/backing.ts";
import type { Sources } from "../audit/change.ts";
import { changedFields } from "../audit/changes.ts";
import { DomainError } from "../errors.ts";
import type { Person } from "../members/principal.ts";
import { recordOwnChange } from "../members/record-own-change.ts";
import { forgetBothFactors } from "../sessions/session-store.ts";
import { secondFactorOf } from "./second-factor-of.ts";
import { deleteSecondFactor } from "./second-factor-store.ts";

/**
 * Ends a person's second factor and its recovery codes. Without one, nothing changes.
 * @param oidc whether an OpenID Connect provider is configured
 * @throws DomainError conflict where the person's role demands a second factor
 */
export async function disableSecondFactor(
  { person, oidc }: { person: Person; oidc: boolean },
  { sql, clock }: Sources,
): Promise<void> {
  const inside = async (tx: Transaction): Promise<void> => {
    const { enabled, demanded } = await secondFactorOf(person.email, { sql: tx, oidc });
    if (enabled && demanded) {
      const message = "Admins cannot go without a second factor: set up a new app, which takes the place of the old one";
      throw new DomainError("conflict", message);
    }
    if (!(await deleteSecondFactor(person.email, tx))) return;
    await forgetBothFactors(person.email, tx);
    const changes = changedFields({ before: { second_factor: "app" }, after: { second_factor: null } });
    await recordOwnChange({ person, event: "account.factor.disabled", changes }, { tx, clock });
  };
  await ("savepoint" in sql ? inside(sql) : sql.begin(inside));
}
