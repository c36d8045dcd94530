/**
 * The second factor of an account, an app with codes: set up, confirmed, checked, and ended.
 *
 * A new secret takes effect with its first code; until then the one in use stays valid. Each code works once. Wrong codes are bounded
 * within a window, and in a row. They are counted within the transaction, so a refusal there is a result and not an error, which would roll
 * the count back. Where a role demands a second factor, it can be replaced but not removed. `secrets rotate` seals the secrets again.
 */
import type { Queries, Transaction } from "../../backing/backing.ts";
import { isoTime, type Clock } from "../../kernel/clock.ts";
import { sealedBy } from "../../kernel/seal-key.ts";
import { type Sources, changedFields } from "../audit/change.ts";
import { DomainError } from "../errors.ts";
import * as limits from "../limits.ts";
import { recordOwnChange } from "../members/accounts.ts";
import type { Person } from "../members/principal.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { forgetBothFactors } from "../sessions/store.ts";
import { managers } from "../audit/actor.ts";
import { hashRecoveryCode, newRecoveryCodes, useRecoveryCode } from "./recovery-codes.ts";
import * as store from "./store.ts";
import * as totp from "./totp.ts";

export interface SecondFactor {
  /** Whether signing in with a password also takes a code. */
  enabled: boolean;
  /** When it was set up, ISO 8601 in UTC; null: it is not. */
  since: string | null;
  /** Whether a workspace demands it: that of an admin or super admin where no OpenID Connect provider is configured. */
  demanded: boolean;
  recoveryCodesLeft: number;
}

/** @param oidc whether an OpenID Connect provider is configured, which is then responsible for second factors */
export async function secondFactorOf(email: string, { sql, oidc }: { sql: Queries; oidc: boolean }): Promise<SecondFactor> {
  const { since, recoveryCodesLeft, roles } = await store.selectStatus(email, sql);
  return {
    enabled: since !== null,
    since: since === null ? null : isoTime(since.getTime()),
    demanded: !oidc && roles.some((role) => managers.includes(role)),
    recoveryCodesLeft,
  };
}

/** Whether signing in with a password also takes a code. */
export async function hasSecondFactor(email: string, sql: Queries): Promise<boolean> {
  return (await store.selectStatus(email, sql)).since !== null;
}

/**
 * Makes a new secret for a person's app. It takes effect with its first code; until then the one in use stays valid.
 * @param publicUrl where people reach the service; its host distinguishes several services in the app
 * @returns the secret, which is shown only now
 */
export async function beginSecondFactor(
  { email, publicUrl }: { email: string; publicUrl: string },
  { sql, clock, keyring }: { sql: Queries; clock: Clock; keyring: Keyring },
): Promise<totp.ShownSecret> {
  const secret = totp.newAuthenticatorSecret();
  await store.upsertPending({ email, sealed: totp.sealAuthenticatorSecret(secret, email, keyring), at: clock.now() }, sql);
  return totp.showAuthenticatorSecret(secret, { email, issuer: `Weir ${new URL(publicUrl).host}` });
}

/**
 * Activates the new secret by its first code, replacing an earlier one and all its recovery codes.
 * @returns ten recovery codes, which are shown only now
 * @throws DomainError invalid_field for a wrong code; conflict if none is pending, or it has expired; rate_limited
 */
export async function confirmSecondFactor(
  { person, code }: { person: Person; code: string },
  { keyring, ...sources }: Sources & { keyring: Keyring },
): Promise<string[]> {
  const { email } = person;
  return checkedCode(email, sources, async (row, tx) => {
    const nowMs = sources.clock.now();
    const digits = digitsOf(code);
    if (row.pendingSealed === null || row.pendingAt === null || digits === null) return null;
    if (nowMs - row.pendingAt.getTime() > limits.secondFactorPendingMs) return null;
    const secret = totp.openAuthenticatorSecret(row.pendingSealed, email, keyring);
    const step = totp.matchingStep(secret, { code: digits, nowMs, after: 0 });
    if (step === null) return null;
    const codes = newRecoveryCodes();
    const hashes = codes.flatMap((one) => hashRecoveryCode(one) ?? []);
    await store.confirmPending({ email, step, hashes, at: nowMs }, tx);
    const changes = changedFields({
      before: { second_factor: row.sealed === null ? null : "app" },
      after: { second_factor: "app" },
    });
    const event = row.sealed === null ? "account.factor.enabled" : "account.factor.replaced";
    await recordOwnChange({ person, event, changes }, { tx, clock: sources.clock });
    return codes;
  });
}

type CheckSources = Sources & { keyring: Keyring };

/**
 * Uses up a code of the person's app or a recovery code.
 * @returns how many recovery codes are left if it was one; null: it was a code of the app
 * @throws DomainError invalid_field for a wrong or used code; conflict where no second factor is set up; rate_limited
 */
export async function checkSecondFactor(
  { person, code }: { person: Person; code: string },
  { keyring, ...sources }: CheckSources,
): Promise<{ recoveryCodesLeft: number | null }> {
  return checkedCode(person.email, sources, async (row, tx) => {
    const digits = digitsOf(code);
    if (digits === null) return useRecoveryCode({ person, code }, { tx, clock: sources.clock });
    const step = row.sealed === null ? null : stepOf(row, digits, { keyring, nowMs: sources.clock.now() });
    if (step === null) return null;
    await store.recordRightCode({ email: person.email, step }, tx);
    return { recoveryCodesLeft: null };
  });
}

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
      const message = "Admins need a second factor: set up a new app, which replaces the old one";
      throw new DomainError("conflict", message);
    }
    if (!(await store.deleteSecondFactor(person.email, tx))) return;
    await forgetBothFactors(person.email, tx);
    const changes = changedFields({ before: { second_factor: "app" }, after: { second_factor: null } });
    await recordOwnChange({ person, event: "account.factor.disabled", changes }, { tx, clock });
  };
  await ("savepoint" in sql ? inside(sql) : sql.begin(inside));
}

/**
 * Seals the secrets of all second factors under the first key of SECRETS_KEY. Part of `secrets rotate`.
 * @returns how many accounts' secrets another key had sealed, and how many were sealed by it already
 * @throws SealError if a key is missing
 */
export async function resealSecondFactors(keyring: Keyring, tx: Transaction): Promise<{ rewrapped: number; unchanged: number }> {
  const result = { rewrapped: 0, unchanged: 0 };
  let after = "";
  for (;;) {
    const rows = await store.lockSecondFactors({ after, limit: limits.dataKeysAtOnce }, tx);
    const last = rows.at(-1);
    if (!last) return result;
    after = last.email;
    const old = rows.filter((row) => [row.sealed, row.pendingSealed].some((sealed) => !isSealedByFirst(sealed, keyring)));
    result.rewrapped += old.length;
    result.unchanged += rows.length - old.length;
    await store.updateSealed(
      old.map((row) => resealed(row, keyring)),
      tx,
    );
  }
}

type Checked<T> = { accepted: T } | { refused: DomainError };

/**
 * Reads one code within a transaction.
 * @param accept returns null for a wrong code
 * @throws DomainError rate_limited, after too many wrong codes; invalid_field for a wrong one; conflict where none is set up
 */
async function checkedCode<T>(
  email: string,
  { sql, clock }: Sources,
  accept: (row: store.SecondFactorRow, tx: Transaction) => Promise<T | null>,
): Promise<T> {
  const inside = async (tx: Transaction): Promise<Checked<T>> => {
    const row = await store.lockSecondFactor(email, tx);
    if (!row) return { refused: new DomainError("conflict", "No second factor is set up for this account: set one up first") };
    const problem = triesProblem(row, clock.now());
    if (problem !== null) return { refused: problem };
    const accepted = await accept(row, tx);
    if (accepted !== null) return { accepted };
    await store.updateWrongCodes(withWrongCode(row, clock.now()), tx);
    return {
      refused: new DomainError("invalid_field", "The code is wrong, or was used already: take the next one", { field: "code" }),
    };
  };
  const checked = await ("savepoint" in sql ? inside(sql) : sql.begin(inside));
  if ("refused" in checked) throw checked.refused;
  return checked.accepted;
}

/** The wrong codes of an account. */
type Tries = Pick<store.SecondFactorRow, "email" | "wrongInRow" | "wrongInWindow" | "windowAt">;

/** @returns why no code is accepted now, not even a right one; null: codes are accepted */
function triesProblem({ wrongInRow, wrongInWindow, windowAt }: Tries, nowMs: number): DomainError | null {
  if (wrongInRow >= limits.wrongCodesInRowMax) {
    return new DomainError("rate_limited", "Too many wrong codes came for this account: ask the operator to reset its sign-in");
  }
  if (!isInWindow(windowAt, nowMs) || wrongInWindow < limits.wrongCodesInWindowMax) return null;
  return new DomainError("rate_limited", "Too many wrong codes came for this account: try again in 15 minutes");
}

function isInWindow(windowAt: Date | null, nowMs: number): boolean {
  return windowAt !== null && nowMs - windowAt.getTime() < limits.wrongCodesWindowMs;
}

/** The tries after one more wrong code. */
function withWrongCode({ email, wrongInRow, wrongInWindow, windowAt }: Tries, nowMs: number): Tries {
  const isSame = isInWindow(windowAt, nowMs);
  return {
    email,
    wrongInRow: wrongInRow + 1,
    wrongInWindow: isSame ? wrongInWindow + 1 : 1,
    windowAt: isSame ? windowAt : new Date(nowMs),
  };
}

/** The six digits in what a person typed, such as `123 456`; null: it is something else. */
function digitsOf(typed: string): string | null {
  const text = typed.replaceAll(/\s/g, "");
  return /^\d{6}$/.test(text) ? text : null;
}

function stepOf(
  row: store.SecondFactorRow,
  code: string,
  { keyring, nowMs }: { keyring: Keyring; nowMs: number },
): number | null {
  if (row.sealed === null) return null;
  const secret = totp.openAuthenticatorSecret(row.sealed, row.email, keyring);
  return totp.matchingStep(secret, { code, nowMs, after: row.lastStep });
}

function isSealedByFirst(sealed: Uint8Array | null, keyring: Keyring): boolean {
  return sealed === null || sealedBy(sealed) === keyring.first.id;
}

function resealed({ email, sealed, pendingSealed }: store.ResealedRow, keyring: Keyring): store.ResealedRow {
  const again = (bytes: Uint8Array | null) =>
    bytes === null ? null : totp.sealAuthenticatorSecret(totp.openAuthenticatorSecret(bytes, email, keyring), email, keyring);
  return { email, sealed: again(sealed), pendingSealed: again(pendingSealed) };
}
