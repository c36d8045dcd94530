/** Refusals of the control plane: verbs throw them, `src/control-api` writes them as `{error: {code, field, message}}`. */

export const controlStatuses = {
  invalid_field: 400,
  invalid_body: 400,
  unauthorized: 401,
  forbidden: 403,
  workspace_disabled: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  body_too_large: 413,
  limit_reached: 429,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
} as const;

export type ControlCode = keyof typeof controlStatuses;

/** @param options.field the field of the request that is at fault; null: none is */
export class ControlError extends Error {
  override name = "ControlError";
  readonly code: ControlCode;
  readonly status: number;
  readonly field: string | null;

  constructor(code: ControlCode, { field, message }: { field: string | null; message: string }) {
    super(message);
    this.code = code;
    this.status = controlStatuses[code];
    this.field = field;
  }
}
