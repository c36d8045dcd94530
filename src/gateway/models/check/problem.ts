/** A problem in providers.json or in a file of models that must be fixed. */
export interface ModelProblem {
  /** Relative to the folder, such as `models/openai.json`. */
  file: string;
  /** The entry at fault, or `entry 3` where it has no id; empty for the file as a whole. */
  id: string;
  /** Such as `routes.1.tiers.0.input`; empty for the entry as a whole. */
  field: string;
  message: string;
}

export function formatModelProblem({ file, id, field, message }: ModelProblem): string {
  return [file, id, field, message].filter((part) => part !== "").join(": ");
}
