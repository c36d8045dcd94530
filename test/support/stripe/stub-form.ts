/** The form-encoded bodies of Stripe's API: only fields that Stripe has published are known. */
import published from "./parameters.json" with { type: "json" };

const fieldsOf: Record<string, readonly string[]> = {
  "POST /v1/customers": published["POST /v1/customers"],
  "POST /v1/payment_intents": published["POST /v1/payment_intents"],
  "POST /v1/checkout/sessions": published["POST /v1/checkout/sessions"],
  "POST /v1/refunds": published["POST /v1/refunds"],
};

/** @returns the first field that the operation does not have; null: it has all. An operation without a list takes no fields. */
export function unknownField(operation: string, form: URLSearchParams): string | null {
  const known = fieldsOf[operation] ?? [];
  const open = known.filter((field) => field.endsWith("[*]")).map((field) => field.slice(0, -"[*]".length));
  for (const name of form.keys()) {
    const field = name.replaceAll(/\[\d+\]/g, "[]");
    if (known.includes(field) || open.some((start) => field.startsWith(`${start}[`))) continue;
    return name;
  }
  return null;
}

/** `metadata[topup]=…` as an object. */
export function metadataIn(form: URLSearchParams, prefix = "metadata"): Record<string, string> {
  const metadata: Record<string, string> = {};
  for (const [name, value] of form) if (name.startsWith(`${prefix}[`)) metadata[name.slice(prefix.length + 1, -1)] = value;
  return metadata;
}
