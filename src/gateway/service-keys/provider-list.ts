/**
 * The providers of the catalog with their states: what each one still needs until its models can be called, how many can be, and what the
 * last test found. The state follows from the same facts by which requests are served, so the list never promises more than they get.
 */
import { DomainError } from "../../accounts/errors.ts";
import type { Queries } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { Model, ProviderRecord, Route } from "../models/model.ts";
import type { Models, WorkspaceRequirements } from "../models/models.ts";
import { refusingOutcomes, trialMessage, trialOutcomes, type TrialOutcome } from "../providers/key-trial.ts";
import type { ProviderState, ProviderView } from "./schema.ts";
import { selectProviderRows, type ServiceProviderRow } from "./store.ts";

export interface ListSources {
  sql: Queries;
  models: Pick<Models, "catalog" | "list" | "availability" | "pendingChecks" | "checkOf" | "serviceKey">;
}

/**
 * In the order of the catalog, which begins with the best known; without the sandbox, which needs nothing.
 * @param isOperator whether keys' origins and problems are shown
 * @throws DomainError unavailable without a catalog
 */
export async function listProviders({ isOperator }: { isOperator: boolean }, sources: ListSources): Promise<ProviderView[]> {
  const rows = new Map((await selectProviderRows(sources.sql)).map((row) => [row.provider, row]));
  const counts = countModels(sources);
  return configurableProviders(sources).map((provider) => {
    const facts = { provider, row: rows.get(provider.id), counted: counts.get(provider.id) ?? nothingCounted };
    return viewProvider(facts, { isOperator, hasKey: sources.models.serviceKey(provider) !== null });
  });
}

/** @throws DomainError unavailable without a catalog */
export function configurableProviders({ models }: { models: Pick<Models, "catalog"> }): ProviderRecord[] {
  const providers = models.catalog()?.providers.values();
  if (!providers) throw new DomainError("unavailable", "The catalog cannot be read at present: try again shortly");
  return [...providers].filter(({ format }) => format !== "sandbox");
}

/** No view needs a workspace's own requirements. */
const noRequirements: WorkspaceRequirements = { zeroDataRetention: false, earlyAccess: ["embeddings"] };

interface Counted {
  models: number;
  callable: number;
  checking: number;
  /** Its launch checks that failed, and those of them that failed because the key was refused. */
  failed: number;
  refused: number;
}

const nothingCounted: Counted = { models: 0, callable: 0, checking: 0, failed: 0, refused: 0 };

function countModels({ models }: Pick<ListSources, "models">): Map<string, Counted> {
  const counts = new Map<string, Counted>();
  for (const { model, route } of models.list().flatMap(offeredRoutes)) {
    const counted = counts.get(route.provider.id) ?? { ...nothingCounted };
    counts.set(route.provider.id, counted);
    const alone = { ...model, routes: [route] };
    const check = models.checkOf(route);
    counted.models++;
    if (models.availability(alone, noRequirements).runnable) counted.callable++;
    if (models.pendingChecks(alone).length > 0) counted.checking++;
    if (check?.passed === false) counted.failed++;
    if (check?.code === "upstream_auth") counted.refused++;
  }
  return counts;
}

function offeredRoutes(model: Model): { model: Model; route: Route }[] {
  if (model.listedAs !== "available") return [];
  return model.routes.flatMap((route) => (route.prices === null ? [] : [{ model, route }]));
}

interface Facts {
  provider: ProviderRecord;
  row: ServiceProviderRow | undefined;
  counted: Counted;
}

function viewProvider(facts: Facts, { isOperator, hasKey }: { isOperator: boolean; hasKey: boolean }): ProviderView {
  const { provider, row, counted } = facts;
  const { id, name, keyEnv, termsChecked, subprocessorListed } = provider;
  const outcome = trialOutcomes.find((one) => one === row?.tested) ?? null;
  const view = {
    id,
    name,
    state: stateOf(facts, { hasKey: hasKey || keyEnv === null, outcome }),
    models: counted.models,
    callable: counted.callable,
    checking: counted.checking,
    own_keys: keyEnv !== null && termsChecked && subprocessorListed && !provider.disabled,
    terms: provider.terms ?? null,
    terms_checked: termsChecked,
    subprocessor_listed: subprocessorListed,
  };
  if (!isOperator) return { ...view, key: null, key_variable: null, masked: null, problem: null, tested_at: null };
  return {
    ...view,
    key: keyOrigin(facts, hasKey),
    key_variable: keyEnv,
    masked: row?.sealed ? `…${row.lastFour ?? ""}` : null,
    problem: problemOf(facts, { hasKey, outcome }),
    tested_at: row?.testedAt ? isoTime(row.testedAt.getTime()) : null,
  };
}

function keyOrigin({ provider, row }: Facts, hasKey: boolean): ProviderView["key"] {
  if (provider.keyEnv === null) return "not_needed";
  if (row?.sealed) return "stored";
  return hasKey ? "environment" : "none";
}

function stateOf(
  { provider, counted }: Facts,
  { hasKey, outcome }: { hasKey: boolean; outcome: TrialOutcome | null },
): ProviderState {
  if (provider.disabled) return "disabled";
  if (!hasKey) return "no_key";
  if (!provider.termsChecked || !provider.subprocessorListed) return "terms";
  if (refusingOutcomes.has(outcome)) return "refused";
  if (counted.checking > 0) return "checking";
  if (counted.callable > 0) return "callable";
  return counted.refused > 0 && counted.refused === counted.failed ? "refused" : "failing";
}

function problemOf({ provider, row, counted }: Facts, { hasKey, outcome }: { hasKey: boolean; outcome: TrialOutcome | null }) {
  if (row?.sealed && !hasKey)
    return "SECRETS_KEY does not open the stored key: put back the key that sealed it, or add the provider's key again";
  if (outcome !== null && outcome !== "accepted" && outcome !== "unproven") return trialMessage({ ...provider, outcome });
  if (counted.failed === 0 || counted.callable > 0 || counted.checking > 0) return null;
  return counted.refused === counted.failed
    ? trialMessage({ ...provider, outcome: "refused" })
    : "All of its models failed their launch check: the log has each error as launch_check";
}
