/** Builds addresses within the catalog, without filters that are not set and without the first page's number. */
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
