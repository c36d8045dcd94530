/** What a browser keeps while its person signs in at the provider: sealed, for ten minutes, and good for one sign-in. */
import { randomBytes } from "node:crypto";
import { Type, type Static } from "@sinclair/typebox";
import { oidcSignInMs } from "../limits.ts";
import type { NoteKind } from "../secrets/sealed-note.ts";

const SignInNote = Type.Object({
  state: Type.String(),
  nonce: Type.String(),
  verifier: Type.String(),
  /** The path to go to afterwards. */
  next: Type.String(),
});
export type SignInNote = Static<typeof SignInNote>;

export const signInNotes: NoteKind<typeof SignInNote> = {
  about: '["sign-in by OpenID Connect"]',
  content: SignInNote,
  ageMsMax: oidcSignInMs,
};

export function newSignInNote(next: string): SignInNote {
  const [state = "", nonce = "", verifier = ""] = Array.from({ length: 3 }, () => randomBytes(32).toString("base64url"));
  return { state, nonce, verifier, next };
}
