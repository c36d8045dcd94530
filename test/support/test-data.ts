/** Real records beside the clone, or where WEIR_TEST_DATA says; they are read in place, and tests that need them skip without them. */
import { existsSync } from "node:fs";
import { join } from "node:path";

const folder = process.env["WEIR_TEST_DATA"] ?? join(import.meta.dir, "../../../shared/data");

/** null: it is not there. */
export function testData(name: string): string | null {
  const path = join(folder, name);
  return existsSync(path) ? path : null;
}
