/** A problem in a catalog file that must be fixed. */
export interface Problem {
  file: string;
  /** Such as `credential_sets[0].fields[1].key`; empty for the file as a whole. */
  field: string;
  /** What is wrong, and what to write instead. */
  message: string;
}

export function formatProblem({ file, field, message }: Problem): string {
  return field === "" ? `${file}: ${message}` : `${file}: ${field}: ${message}`;
}
