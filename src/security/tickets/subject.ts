import { shortened } from "../../kernel/shortened.ts";

const subjectCharactersMax = 80;

/** The first words of a text as one line, cut at a word where it is longer. */
export function subjectOf(text: string): string {
  return shortened(text, subjectCharactersMax);
}
