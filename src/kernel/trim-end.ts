/** The text without the marks at its end. An expression such as /\/+$/ would need n² steps for long runs of marks. */
export function trimmedEnd(text: string, mark: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === mark) end--;
  return text.slice(0, end);
}
