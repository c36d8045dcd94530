/** The load generator as a separate process without the rest of the bench: `bun bench/load/main.ts`, controlled by stdin. */
import { serveLoads } from "./serve.ts";

await serveLoads({ requests: process.stdin, replies: process.stdout, progress: (line) => console.error(line) });
process.exit();
