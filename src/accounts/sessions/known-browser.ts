/**
 * A browser in which a person has signed in before. Its tries to sign in are counted apart, so that strangers of its network, or behind
 * the same proxy, cannot use them up. The note proves nothing else, and opens nothing.
 */
import { Type, type Static } from "@sinclair/typebox";
import type { Clock } from "../../kernel/clock.ts";
import { knownBrowserMsMax } from "../limits.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { openNote, sealNote, type NoteKind } from "../secrets/sealed-note.ts";
import { newToken } from "./token.ts";

const KnownBrowser = Type.Object({
  email: Type.String(),
  /** Tries are counted for it. */
  id: Type.String(),
});
export type KnownBrowser = Static<typeof KnownBrowser>;

const kind: NoteKind<typeof KnownBrowser> = { about: '["known browser"]', content: KnownBrowser, ageMsMax: knownBrowserMsMax };

interface Sources {
  keyring: Keyring;
  clock: Clock;
}

/** The note that a browser keeps after a sign-in. */
export function sealKnownBrowser(email: string, { keyring, clock }: Sources): string {
  return sealNote(kind, { email, id: newToken() }, { keyring, nowMs: clock.now() });
}

/** @param note what the browser kept; null: nothing @returns null if it is not of this person, or too old */
export function openKnownBrowser(
  { note, email }: { note: string | null; email: string },
  { keyring, clock }: Sources,
): KnownBrowser | null {
  const known = openNote(kind, note, { keyring, nowMs: clock.now() });
  return known?.email === email ? known : null;
}
