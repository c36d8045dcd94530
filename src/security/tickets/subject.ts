import { shortened } from "../../kernel/shortened.ts";

const subjectCharactersMax = 80;

/** The beginning of a text as one line, cut at the end of a word. */
export function subjectOf(text: string): string {
  return shortened(text, subjectCharactersMax);
}
