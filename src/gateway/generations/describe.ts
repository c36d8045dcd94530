import type { Caller } from "../../accounts/keys/store.ts";
import type { Queries } from "../../backing/backing.ts";
import { formatPicoUsd, formatUsd } from "../../kernel/money.ts";
import type { Catalog } from "../models/model.ts";
import { priceLines } from "./price-lines.ts";
import type { GenerationDetail } from "./schema.ts";
import { generationNotFound } from "./show.ts";
import { selectBookedCost, type GenerationRow } from "./store.ts";
import { viewGeneration } from "./view.ts";

interface Described {
  row: GenerationRow;
  /** undefined: it is unknown. */
  caller: Caller | undefined;
  promptStored: boolean;
  /** null: it cannot be read at present. */
  catalog: Catalog | null;
}

/** One generation with how its charge came about. @throws DomainError not_found: it was deleted meanwhile */
export async function describeGeneration(
  { row, caller, promptStored, catalog }: Described,
  sql: Queries,
): Promise<GenerationDetail> {
  const booked = await selectBookedCost(row.generation, sql);
  if (!booked) throw generationNotFound(row.generation);
  const { outcome, costPico, excess } = booked;
  const amount = row.listCost === null ? { pico: costPico } : { nano: row.listCost };
  return {
    ...viewGeneration(row, caller),
    outcome,
    price_lines: priceLines({ ...row, amount }, catalog),
    exact_cost_usd: formatPicoUsd(costPico),
    uncharged_usd: formatUsd(excess ?? 0n),
    prompt_stored: promptStored,
  };
}
