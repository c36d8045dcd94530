/** `npm run ok`: every check of the code that takes only seconds. */
import { quickChecks, runChecks, slowChecks } from "./checks.ts";

const { failed } = await runChecks([...quickChecks(), ...slowChecks()]);
process.exit(failed === 0 ? 0 : 1);
