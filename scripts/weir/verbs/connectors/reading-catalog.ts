import { CallError } from "../../call.ts";

/** @throws CallError when the folder cannot be read */
export async function readingCatalog<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    throw new CallError(`Cannot read the catalog: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
