/** One spelling for each project: https://packaging.python.org/en/latest/specifications/name-normalization/ */
import { packageKey } from "../../versions/package-name.ts";

export function projectKey(name: string): string {
  return packageKey({ ecosystem: "PyPI", name });
}

/** The name at the start of a requirement: https://packaging.python.org/en/latest/specifications/dependency-specifiers/ */
export function requirementName(requirement: string): string | null {
  return /^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)/.exec(requirement)?.[1] ?? null;
}
