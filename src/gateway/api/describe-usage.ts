/** GET /usage: what the calling key used. An addition to the format. */
import { DomainError } from "../../accounts/errors.ts";
import { requestTarget } from "../../http/request-target.ts";
import { GatewayError } from "../../kernel/errors.ts";
import { jsonResponse } from "../../kernel/json-response.ts";
import { UsageFields } from "../usage/span.ts";
import { authenticate } from "./authenticate.ts";
import type { Gateway } from "./gateway.ts";

/** @throws GatewayError invalid_request, and billing_unavailable while the sums cannot be read */
export async function describeUsage(request: Request, gateway: Gateway): Promise<Response> {
  const { record } = await authenticate(request, gateway);
  const fields = readFields(requestTarget(request).query);
  try {
    const usage = await gateway.usage({ workspace: record.workspace, key: record.id, fields });
    return jsonResponse(usage, { headers: { "cache-control": "no-store" } });
  } catch (error) {
    if (error instanceof DomainError && error.field !== null)
      throw new GatewayError("invalid_request", { message: error.message, param: error.field });
    throw new GatewayError("billing_unavailable", {
      message: "Usage cannot be summed at present; try again shortly",
      cause: error,
    });
  }
}

/** @throws GatewayError invalid_request for another parameter, or one that is given twice or too long */
function readFields(query: URLSearchParams): UsageFields {
  const fields = new Map<string, string>();
  for (const [param, value] of query) {
    const schema = Object.entries(UsageFields.properties).find(([name]) => name === param)?.[1];
    const refuse = (message: string) => new GatewayError("invalid_request", { message, param });
    if (!schema) throw refuse(`There is no parameter "${param}": ${Object.keys(UsageFields.properties).join(", ")} are possible`);
    if (fields.has(param)) throw refuse(`The parameter "${param}" is given twice`);
    if (value.length > (schema.maxLength ?? 0)) throw refuse(`The parameter "${param}" is too long`);
    fields.set(param, value);
  }
  return Object.fromEntries(fields);
}
