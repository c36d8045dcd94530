import { Notes, type Finding } from "../../evidence.ts";
import type { Admitted, Called, History, OwnKeysSet } from "../../history.ts";
import { settingOf, type SettingHistory } from "../../setting-history.ts";

/**
 * I-19: a provider is called with a workspace's own key for it and never with the service's. A model that an own key serves is called on
 * credit only with `own_key_fallback`. The settings are those of some moment of the half minute before the admission.
 */
export function serviceKeyIsAllowed(history: History, delayMsMax: number): Finding {
  const notes = new Notes();
  const settings = new Map<string, SettingHistory<OwnKeysSet>>();
  const admitted = new Map<string, Admitted & { at: number }>();
  for (const event of history) {
    if (event.kind === "own keys") settingOf(settings, event.workspace).set(event.at, event);
    if (event.kind === "admitted") admitted.set(event.generation, event);
    if (event.kind !== "called") continue;
    const own = admitted.get(event.generation);
    const possible = own && settings.get(own.workspace)?.at(own.at, delayMsMax);
    if (!own || !possible || possible.length === 0) continue;
    const { generation, ownKey, provider } = event;
    const what = ownKey ?? "the service's key";
    notes.check(
      possible.some((setting) => allows(setting, event)),
      () => `${generation}: ${provider?.id ?? "a provider"} was called with ${what}, which ${own.workspace} does not allow`,
    );
  }
  return notes;
}

function allows({ keys, fallback }: OwnKeysSet, { ownKey, provider }: Called): boolean {
  if (ownKey !== undefined) return keys.some(({ id }) => id === ownKey);
  const owned = new Set(keys.map((key) => key.provider));
  if (provider === undefined) return owned.size === 0 || fallback;
  return !owned.has(provider.id) && (fallback || !provider.ofModel.some((id) => owned.has(id)));
}
