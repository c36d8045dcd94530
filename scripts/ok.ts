/** `npm run ok`: every check of the code that takes only seconds. */
import { runChecks } from "./checks.ts";

process.exit(runChecks().failed === 0 ? 0 : 1);
