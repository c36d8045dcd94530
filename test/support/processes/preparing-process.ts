/** Makes the embedded database that the tests copy, unless an earlier run has left it. */
import { prepareFolder } from "../servers/prepared-databases.ts";

await prepareFolder();
process.exit();
