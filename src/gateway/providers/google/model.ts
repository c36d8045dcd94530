/**
 * A model's name decides one thing about its API: models up to Gemini 2 take a thinking budget in tokens; from Gemini 3 on they
 * take a level and sign tool calls. Names are open-ended (`gemini-flash-latest`), so an unknown name counts as the newest kind.
 */
export function isUpToGemini2(upstreamModel: string): boolean {
  return /(^|\/)(gemini-[12]([.-]|$)|gemini-pro|gemma-[1-3]([.-]|$))/.test(upstreamModel);
}
