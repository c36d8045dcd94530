/** An error as Stripe's API answers it. */
export class StubError extends Error {
  override name = "StubError";
  readonly status: number;
  readonly body: Record<string, unknown>;

  constructor(status: number, error: Record<string, unknown>) {
    super(String(error["code"] ?? error["type"]));
    this.status = status;
    this.body = { error: { message: "A text of Stripe's that no log and no client may show", ...error } };
  }
}

export function invalid(code: string, param?: string): StubError {
  return new StubError(code === "resource_missing" ? 404 : 400, { type: "invalid_request_error", code, param });
}
