/** The load generator as a process of its own: it costs the same beside every contender, and its cost is known. */
import { shareCore } from "../../scripts/services/share-core.ts";
import type { Result } from "../load/tally.ts";
import { root } from "../places.ts";

const linesKept = 20;

export interface Loaded {
  result: Result;
  /** What the generator itself used. */
  cpuSeconds: number;
}

export interface Loading {
  onProgress?(line: string): void;
  /** Where `shareCore` puts it. */
  sharesCore?: boolean;
}

/** @param words as after `npm run bench -- load`, `--json` apart. @throws Error when there is no result */
export async function runLoadProcess(words: string[], { onProgress, sharesCore }: Loading = {}): Promise<Loaded> {
  const child = Bun.spawn([process.execPath, "bench/load/main.ts", ...words, "--json"], {
    cwd: root,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  if (sharesCore) shareCore([child.pid]);
  const said = tell(child.stderr, onProgress ?? (() => {}));
  const text = await new Response(child.stdout).text();
  const errors = await said;
  await child.exited;
  if (!text.startsWith("{")) throw new Error(`The load generator gave no result: ${errors}`);
  const cpuMicroseconds = Number(child.resourceUsage()?.cpuTime.total ?? 0);
  return { result: JSON.parse(text) as Result, cpuSeconds: cpuMicroseconds / 1_000_000 };
}

/** @returns its last lines, for an error to be told whole */
async function tell(stream: ReadableStream<Uint8Array>, onProgress: (line: string) => void): Promise<string> {
  const decoder = new TextDecoder();
  const last: string[] = [];
  for await (const bytes of stream) {
    for (const line of decoder.decode(bytes, { stream: true }).split("\n")) {
      if (line === "") continue;
      last.push(line);
      if (last.length > linesKept) last.shift();
      onProgress(line);
    }
  }
  return last.join("\n");
}
