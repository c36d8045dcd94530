/** Reads a body with a batch of advisories from stdin, and writes prepared records to stdout. `readBodyInSubprocess` starts it. */
import { writeLines, readStdin } from "../../../process/subprocess/subprocess-io.ts";
import { encodeBody } from "./subprocess-codec.ts";
import { readBody } from "./read-body.ts";

await writeLines(encodeBody(readBody(await readStdin())));
