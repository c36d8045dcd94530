import type { Queries } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import { managers } from "../workspaces/authorize.ts";
import { selectStatus } from "./second-factor-store.ts";

export interface SecondFactor {
  /** Whether signing in with a password also takes a code. */
  enabled: boolean;
  /** When it was set up, ISO 8601 in UTC; null: it is not. */
  since: string | null;
  /** Whether a workspace demands it: that of an admin or super admin where no OpenID Connect provider is configured. */
  demanded: boolean;
  recoveryCodesLeft: number;
}

/** @param oidc whether an OpenID Connect provider is configured, which then looks after second factors */
export async function secondFactorOf(email: string, { sql, oidc }: { sql: Queries; oidc: boolean }): Promise<SecondFactor> {
  const { since, recoveryCodesLeft, roles } = await selectStatus(email, sql);
  return {
    enabled: since !== null,
    since: since === null ? null : isoTime(since.getTime()),
    demanded: !oidc && roles.some((role) => managers.includes(role)),
    recoveryCodesLeft,
  };
}

/** Whether signing in with a password also takes a code. */
export async function hasSecondFactor(email: string, sql: Queries): Promise<boolean> {
  return (await selectStatus(email, sql)).since !== null;
}
