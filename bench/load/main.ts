/** The load generator as a process of its own, with nothing else of the bench in it: `bun bench/load/main.ts`, told by its stdin. */
import { serveLoads } from "./serve.ts";

await serveLoads({ questions: process.stdin, answers: process.stdout, progress: (line) => console.error(line) });
process.exit();
