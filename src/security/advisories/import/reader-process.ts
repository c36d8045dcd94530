/** Reads a body with a batch of advisories that comes on stdin, and writes what is to be stored to stdout; `readBodyInSubprocess` starts it. */
import { writeLines, readStdin } from "../../../process/subprocess/subprocess-io.ts";
import { encodeBody } from "./subprocess-codec.ts";
import { readBody } from "./read-body.ts";

await writeLines(encodeBody(readBody(await readStdin())));
