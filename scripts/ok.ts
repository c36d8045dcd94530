/** `npm run ok`: everything that can be said of the code in seconds. */
import { runChecks } from "./checks.ts";

process.exit(runChecks().failed === 0 ? 0 : 1);
