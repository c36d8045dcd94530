/** What a browser keeps between the first factor and the second. It opens nothing: a session starts after both. */
import { createHash } from "node:crypto";
import { Type, type Static } from "@sinclair/typebox";
import type { Queries } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import { DomainError } from "../errors.ts";
import { firstStepMs } from "../limits.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { openNote, sealNote, type NoteKind } from "../secrets/sealed-note.ts";
import { selectPasswordHash } from "./second-factor-store.ts";

const FirstStep = Type.Object({
  email: Type.String(),
  way: Type.Union([Type.Literal("password"), Type.Literal("link")]),
  /** A digest of the password's hash: a new password makes the note worthless. */
  password: Type.String(),
  /** The path to go to afterwards. */
  next: Type.String(),
});
export type FirstStep = Omit<Static<typeof FirstStep>, "password">;

const kind: NoteKind<typeof FirstStep> = { about: '["first step of a sign-in"]', content: FirstStep, ageMsMax: firstStepMs };

interface NoteSources {
  sql: Queries;
  clock: Clock;
  keyring: Keyring;
}

/** The note of a person who gave a right password, or followed a link of a mail. @throws DomainError unauthorized for an inactive account */
export async function sealFirstStep(step: FirstStep, { sql, clock, keyring }: NoteSources): Promise<string> {
  const password = await passwordDigest(step.email, sql);
  if (password === null) throw tooLate();
  return sealNote(kind, { ...step, password }, { keyring, nowMs: clock.now() });
}

/** @throws DomainError unauthorized for a note that is missing, older than ten minutes or of another password, and for an inactive account */
export async function openFirstStep(note: string | null, { sql, clock, keyring }: NoteSources): Promise<FirstStep> {
  const step = openNote(kind, note, { keyring, nowMs: clock.now() });
  if (step === null || step.password !== (await passwordDigest(step.email, sql))) throw tooLate();
  return step;
}

/** null: there is no such active account. */
async function passwordDigest(email: string, sql: Queries): Promise<string | null> {
  const row = await selectPasswordHash(email, sql);
  return row === undefined
    ? null
    : createHash("sha256")
        .update(row.hash ?? "none")
        .digest("base64url");
}

function tooLate(): DomainError {
  return new DomainError("unauthorized", "Too much time has passed since the first step: begin to sign in again");
}
