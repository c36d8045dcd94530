/** Reads a body with a batch of advisories that comes on stdin, and writes what is to be stored to stdout; `readBodyApart` starts it. */
import { answerLines, sentBytes } from "../../../process/apart.ts";
import { linesOfBody } from "./prepared-lines.ts";
import { readBody } from "./read-body.ts";

await answerLines(linesOfBody(readBody(await sentBytes())));
