/** The state of the service and of its models in words. */
import { joined } from "../reference/prose.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { UnavailableReason } from "../../../gateway/models/model.ts";
import type { CallableModels } from "./callable-models.ts";

/** By the names in /ready, which tells everybody that a part is unavailable and only the operator why. */
const parts: Record<string, { name: string; problem: string }> = {
  database: { name: "Database", problem: "the database does not answer" },
  bus: { name: "Message bus", problem: "the message bus is not connected" },
  admission: { name: "Admission", problem: "admission does not answer, so no request can be decided" },
  catalog: { name: "Model catalog", problem: "the model catalog cannot be read" },
  spool: { name: "Spool", problem: "the spool takes no more charges, so no request can begin" },
};

export interface Readiness {
  ready: boolean;
  dependencies: Record<string, string>;
}

/** What keeps the service from being ready, such as `The database does not answer`; null: nothing. */
export function problemSentence({ ready, dependencies }: Readiness): string | null {
  if (ready) return null;
  const failing = Object.keys(dependencies).filter((name) => dependencies[name] !== "ok");
  if (failing.length === 0) return "The service is stopping";
  const text = failing.map((name) => parts[name]?.problem ?? `${name} is unavailable`).join("; ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Each part with its state. */
export function partStates({ dependencies }: Readiness): { name: string; works: boolean }[] {
  return Object.entries(dependencies).map(([name, state]) => ({ name: parts[name]?.name ?? name, works: state === "ok" }));
}

/** What a reason means for one model and for several. */
const missing: Record<UnavailableReason, { one: string; many: string }> = {
  provider_not_configured: { one: "needs its provider's key", many: "need a provider's key" },
  terms_not_checked: { one: "needs its provider's terms to be checked", many: "need their provider's terms to be checked" },
  launch_check_missing: { one: "waits for its launch check", many: "wait for their launch check" },
  launch_check_failed: { one: "failed its launch check", many: "failed their launch check" },
  no_price: { one: "has no price yet", many: "have no price yet" },
  request_access: { one: "is in early access, on request", many: "are in early access, on request" },
  coming_soon: { one: "is coming soon", many: "are coming soon" },
  zero_data_retention_required: { one: "keeps data", many: "keep data" },
  catalog_unreadable: { one: "cannot be read", many: "cannot be read" },
};

/** Such as `12 of 84 models can be called; the others need a provider's key, such as OPENAI_API_KEY`. */
export function modelSentences(models: CallableModels | null): Html {
  if (models === null) return markup`<p>The model catalog cannot be read at present.</p>`;
  const { callable, total, keyVariable } = models;
  const counts = markup`<strong>${callable}</strong> of ${total} models can be called`;
  const such = (reason: UnavailableReason): Html | null =>
    reason === "provider_not_configured" && keyVariable !== null ? markup`, such as <code>${keyVariable}</code>` : null;
  const [only, ...others] = models.missing;
  if (only === undefined) return markup`<p>${counts}.</p>`;
  if (others.length === 0) return markup`<p>${counts}; the others ${missing[only.reason].many}${such(only.reason)}.</p>`;
  const words = models.missing.map(
    ({ reason, count }) => markup`${count} ${missing[reason][count === 1 ? "one" : "many"]}${such(reason)}`,
  );
  return markup`<p>${counts}. Of the others, ${joined(words, "; ")}.</p>`;
}
