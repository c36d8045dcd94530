/** Without every `mark` at its end. An expression such as /\/+$/ looks at each run of marks from each of its places: n² steps. */
export function trimmedEnd(text: string, mark: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === mark) end--;
  return text.slice(0, end);
}
