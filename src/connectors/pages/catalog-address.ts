/** Where a part of the catalog is to be seen: filters that are not set are left out, and so is the first page. */
import type { PageQuery } from "../catalog/read-parameters.ts";

export function catalogAddress({ category, method, q, page }: Partial<PageQuery>): string {
  const query = new URLSearchParams();
  if (q) query.set("q", q);
  if (category) query.set("category", category);
  if (method) query.set("method", method);
  if (page !== undefined && page > 1) query.set("page", String(page));
  return query.size === 0 ? "/connectors" : `/connectors?${query}`;
}

export function connectorAddress(slug: string): string {
  return `/connectors/${encodeURIComponent(slug)}`;
}
