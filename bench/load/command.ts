/** `load`: sends load to a running gateway. */
import { reportOf } from "./report.ts";
import { runLoad } from "./run-load.ts";
import { planOf, readLoadArguments } from "./load-arguments.ts";

/** @returns the exit code: 1 when a request failed or none was sent */
export async function loadCommand(words: string[]): Promise<number> {
  const values = readLoadArguments(words);
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stopping.abort());
  const result = await runLoad({ ...planOf(values), stop: stopping.signal, progress: (line) => console.error(line) });
  console.log(values.json === true ? JSON.stringify(result) : reportOf(result));
  return result.failedInAll === 0 && result.succeeded > 0 ? 0 : 1;
}
