/**
 * Passwords: hashed, compared and set.
 *
 * argon2id takes a core for 30 ms and 19 MiB, so few run at once, shared fairly among networks. An unknown person's password is compared
 * with a decoy, so that the time of an answer does not show who is known. A password is long
 * (https://pages.nist.gov/800-63-4/sp800-63b.html) and more than what people try first. Setting one ends the person's other sessions and
 * links. Hashing is the only thing in this wing that needs Bun.
 */
import type { Database } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { MemberActor } from "../audit/actor.ts";
import { change, type AuditEvent } from "../audit/change.ts";
import { DomainError } from "../errors.ts";
import * as limits from "../limits.ts";
import { selectMemberships } from "../members/store.ts";
import { FairSemaphore, type SemaphoreLimits } from "../quotas/fair-semaphore.ts";
import { newToken } from "./session.ts";
import { updatePasswordHash, deleteSessionsOf } from "./store.ts";

const hashing: SemaphoreLimits = {
  runningMax: limits.passwordsHashedAtOnceMax,
  runningPerHolderMax: 1,
  waitingMax: limits.passwordsWaitingMax,
  waitingPerHolderMax: limits.passwordsWaitingPerNetworkMax,
  waitMs: limits.passwordWaitMs,
};

export class Passwords {
  readonly #semaphore: FairSemaphore;
  /** The hash that passwords of unknown people are compared with. */
  #decoy: Promise<string> | null = null;

  constructor(clock: Clock) {
    this.#semaphore = new FairSemaphore({ clock, limits: hashing, busy: "Too many people are signing in right now" });
  }

  /** @param holder for whom the work is done, so that none starves the others @throws LimitReachedError */
  hash(password: string, holder: string): Promise<string> {
    return this.#run(holder, () => hashWithArgon2(password));
  }

  /** @param hash null: the person is unknown or has no password, which takes as long @throws LimitReachedError */
  verify(password: string, { hash, holder }: { hash: string | null; holder: string }): Promise<boolean> {
    return this.#run(holder, async () => {
      const isRight = await verifyWithArgon2(password, hash ?? (await (this.#decoy ??= hashWithArgon2(newToken()))));
      return isRight && hash !== null;
    });
  }

  async #run<T>(holder: string, work: () => Promise<T>): Promise<T> {
    const release = await this.#semaphore.acquire(holder);
    try {
      return await work();
    } finally {
      release();
    }
  }
}

interface NewPassword {
  /** The person, who sets their own. */
  email: string;
  carriedBy: MemberActor["carriedBy"];
  password: string;
  /** The id of the session that stays; all others end. */
  except?: string;
}

/**
 * Sets a person's password and ends their other sessions and links. Each workspace that they have joined gets an audit row with their role there.
 * @throws DomainError invalid_field for a short or guessable one; LimitReachedError
 */
export async function setPassword(
  { email, carriedBy, password, except }: NewPassword,
  { sql, clock, passwords }: { sql: Database; clock: Clock; passwords: Passwords },
): Promise<void> {
  requireStrong(password, email);
  const hash = await passwords.hash(password, email);
  await sql.begin(async (tx) => {
    await updatePasswordHash({ email, hash }, tx);
    await deleteSessionsOf({ email, ...(except !== undefined && { except }) }, tx);
    for (const { workspace, role } of await selectMemberships(email, tx)) {
      const event: AuditEvent = { event: "account.password.set", workspace, target: email, changes: {} };
      await change({ kind: "member", email, role, carriedBy }, { sql: tx, clock }, async () => ({ result: undefined, event }));
    }
  });
}

/** Length is what makes a password strong: https://pages.nist.gov/800-63-4/sp800-63b.html */
export function requireStrong(password: string, email: string): void {
  const refuse = (cause: string) =>
    new DomainError("invalid_field", `Cannot take this password: ${cause}`, { field: "password" });
  const characters = Array.from(password).length;
  if (characters < limits.passwordCharactersMin) throw refuse(`at least ${limits.passwordCharactersMin} characters are needed`);
  if (characters > limits.passwordCharactersMax) throw refuse(`at most ${limits.passwordCharactersMax} characters are allowed`);
  if (isGuessable(password.toLowerCase(), email)) throw refuse("it is easy to guess. Several unrelated words make a good one");
}

/** OWASP's second choice for argon2id, in KiB and passes: https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html */
const cost = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;

function hashWithArgon2(password: string): Promise<string> {
  return Bun.password.hash(password, cost);
}

function verifyWithArgon2(password: string, hash: string): Promise<boolean> {
  return Bun.password.verify(password, hash);
}

/** Words that people try first. */
const common = [
  "password",
  "passwort",
  "letmein",
  "welcome",
  "qwertyuiop",
  "administrator",
  "iloveyou",
  "weir",
  "changeme",
  "123456789",
  "0123456789",
];

/** Whether little is left without the obvious parts: the address, common words, repeated and consecutive characters. */
function isGuessable(password: string, email: string): boolean {
  let rest = password;
  for (const word of [email, ...email.split(/[@.+_-]/), ...common]) if (word.length > 2) rest = rest.replaceAll(word, "");
  const steps = Array.from(rest).filter((character, index, all) => {
    const step = (character.codePointAt(0) ?? 0) - (all[index - 1]?.codePointAt(0) ?? -9);
    return Math.abs(step) > 1;
  });
  return steps.length < 6 || new Set(rest).size < 5;
}
