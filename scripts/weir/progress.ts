/** Reads the answer of a long action: parts, which are shown as progress, and the result at the end. */
import { CallError } from "./call.ts";

/** @throws CallError when the service fails, or its answer ends before the result */
export async function readProgress(
  response: Response,
  show: (part: Record<string, unknown>) => void,
): Promise<Record<string, unknown>> {
  for await (const line of linesOf(response)) {
    const { checked, result, error } = JSON.parse(line);
    if (checked) show(checked);
    if (error) throw new CallError(String(error.message));
    if (result) return result;
  }
  throw new CallError("The service's answer ended before the result");
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
