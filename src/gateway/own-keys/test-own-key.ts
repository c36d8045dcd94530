/**
 * `provider-key test`: calls the provider with a stored key, for each chat model that lacks a launch check with the service's key, or for
 * one named model. What passes counts for this workspace alone, since it shows what its account may call. The provider bills the calls, of
 * at most 16 output tokens each.
 */
import { type Actor, authorize, managers } from "../../accounts/audit/actor.ts";
import { change, changedFields } from "../../accounts/audit/change.ts";
import { DomainError } from "../../accounts/errors.ts";
import { SealError } from "../../kernel/seal-key.ts";
import type { Secret } from "../../kernel/secret.ts";
import { launchChecksAtOnce } from "../limits.ts";
import { ownCheck } from "../models/candidate.ts";
import type { Models } from "../models/models.ts";
import { type OwnKeySources, requireSwitchedOn, type KeyedWorkspace, findOwnKey, requireOwnKey } from "./own-keys.ts";
import type { OwnKeyTest, OwnKeyTestForm } from "./schema.ts";
import { openOwnKey } from "./sealed-key.ts";
import { lockOwnKey, moveState, updateChecks, type OwnKeyRow } from "./store.ts";
import { candidatesOf, countKeyTest, requireProvider, tryKey, type TriedModel } from "./try-key.ts";

type TestSources = OwnKeySources & { models: Pick<Models, "availability"> };

/**
 * Calls the provider with the key: for each chat model that lacks a launch check with the service's key, or for one named model. What
 * passes counts for this workspace alone. The provider bills the calls, of at most 16 output tokens each.
 * @throws DomainError invalid_field for a model that the provider does not serve; not_found even for another workspace's; conflict where
 *   own keys are off; unavailable if the key cannot be opened; forbidden except for admins, super admins and the operator
 * @throws LimitReachedError with too many in an hour
 */
export async function testOwnKey(
  { actor, workspace, id, form }: { actor: Actor; workspace: KeyedWorkspace; id: string; form: OwnKeyTestForm },
  sources: TestSources,
): Promise<OwnKeyTest> {
  authorize(actor, { roles: managers, action: "test a provider key" });
  requireSwitchedOn(workspace);
  const row = requireOwnKey({ id, workspace: workspace.id, row: await findOwnKey(id, sources.sql) });
  const key = opened(row, sources);
  const all = candidatesOf(requireProvider(row.provider, sources), sources);
  const chosen = choose(all, { row, form }, sources);
  await countKeyTest(workspace.id, sources);
  const tested = await tryAll(chosen, key, sources);
  return change(actor, sources, async (tx) => {
    const current = requireOwnKey({ id, workspace: workspace.id, row: await lockOwnKey(id, tx) });
    const passed = tested.filter(({ code }) => code === null).map(({ candidate }) => ownCheck(candidate.route, row));
    const rejected = tested
      .filter(({ code }) => code === "upstream_rejected")
      .map(({ candidate }) => ownCheck(candidate.route, row));
    // Checks of entries that the catalog no longer has are dropped. Other failures say nothing lasting about the model.
    const known = new Set(all.map(({ route }) => ownCheck(route, row)));
    const kept = current.checks.filter((check) => known.has(check) && !rejected.includes(check));
    const checks = [...new Set([...kept, ...passed])];
    await updateChecks({ id, checks, at: passed.length > 0 ? sources.clock.now() : null }, tx);
    const to = stateAfter(tested);
    const moved = to !== null && (await moveState({ id, sealed: row.sealed, to }, tx));
    const state = moved ? to : current.state;
    const failed = tested.filter(({ code }) => code !== null).length;
    const result = {
      id,
      ok: failed === 0,
      state,
      tests: tested.map(({ candidate, code }) => ({ model: candidate.model.id, code })),
    };
    const after = { tested: tested.length, failed, state };
    const changes = changedFields({ before: { state: current.state }, after });
    return { result, event: { event: "provider.key.tested", workspace: workspace.id, target: id, changes } };
  });
}

interface Tested {
  candidate: TriedModel;
  code: string | null;
}

function stateAfter(tested: readonly Tested[]): "active" | "refused" | null {
  if (tested.some(({ code }) => code === null)) return "active";
  return tested.some(({ code }) => code === "upstream_auth") ? "refused" : null;
}

function opened(row: OwnKeyRow, { keyring }: TestSources): Secret {
  try {
    return openOwnKey(row, keyring);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new DomainError("unavailable", `The key cannot be opened: ${error.message}`);
  }
}

/** If no model lacks a check, the cheapest one shows whether the key works. */
function choose(
  all: readonly TriedModel[],
  { row, form }: { row: OwnKeyRow; form: OwnKeyTestForm },
  { models }: TestSources,
): TriedModel[] {
  if (form.model !== undefined) {
    const named = all.find(({ model }) => model.id === form.model);
    if (named) return [named];
    throw new DomainError("invalid_field", `There is no chat model "${form.model}" of "${row.provider}"`, { field: "model" });
  }
  const unchecked = all.filter(({ model, route }) => {
    const { reason } = models.availability(
      { ...model, routes: [route] },
      { zeroDataRetention: false, earlyAccess: [], ownKeys: [{ ...row, state: "active", checks: [] }] },
    );
    return reason === "launch_check_missing" || reason === "launch_check_failed";
  });
  return unchecked.length > 0 ? unchecked : all.slice(0, 1);
}

/** A few at a time. None after a refusal unless one succeeded, since the others would be refused too. */
async function tryAll(candidates: readonly TriedModel[], key: Secret, sources: TestSources): Promise<Tested[]> {
  const tested: Tested[] = [];
  const queue = candidates.values();
  let refused = false;
  let accepted = false;
  const lanes = Array.from({ length: launchChecksAtOnce }, async () => {
    for (const candidate of queue) {
      if (refused && !accepted) return;
      const code = await tryKey({ key, candidate }, sources);
      refused ||= code === "upstream_auth";
      accepted ||= code === null;
      tested.push({ candidate, code });
    }
  });
  await Promise.all(lanes);
  return tested;
}
