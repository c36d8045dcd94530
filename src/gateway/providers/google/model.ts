/**
 * The one thing that a model's name tells about its API: up to Gemini 2 thinking has a budget of tokens, from Gemini 3 on it has
 * levels, and calls of tools are signed. Names are open-ended (`gemini-flash-latest`): an unknown one is of the newest kind.
 */
export function isUpToGemini2(upstreamModel: string): boolean {
  return /(^|\/)(gemini-[12]([.-]|$)|gemini-pro|gemma-[1-3]([.-]|$))/.test(upstreamModel);
}
