/** Real records next to the clone, or in the folder of WEIR_TEST_DATA. Tests read them in place and skip without them. */
import { existsSync } from "node:fs";
import { join } from "node:path";

const folder = process.env["WEIR_TEST_DATA"] ?? join(import.meta.dir, "../../../shared/data");

/** null if the folder does not exist. */
export function testData(name: string): string | null {
  const path = join(folder, name);
  return existsSync(path) ? path : null;
}
