/**
 * What an error means for the person who looks at a request: one box at the top of its page, with the meaning of the code, the cause, the
 * next step, the wait where it is known, and the code's place in the reference. Every code that a request may end with or be refused with
 * has words, or this does not compile.
 */
import { upstreamRetryAfterSeconds } from "../../../gateway/limits.ts";
import { markup, type Html } from "../../../http/html.ts";
import { errorTable, type ErrorCode } from "../../../kernel/errors.ts";
import { content, userText, type Content } from "../../look/parts.ts";
import type { PageCall } from "../../page.ts";
import { duration } from "./request-columns.ts";

interface Problem {
  status: number;
  code: string;
  /** The message that the caller got, or what else is known; null: nothing is. */
  cause: Content | null;
  /** The request's key; null: the Workbench. */
  key: string | null;
  /** null: not known. */
  model: string | null;
  /** The wait that the answer named; null: none. */
  retryAfterMs: number | null;
}

type Call = Pick<PageCall, "link" | "offers">;

export function problemBox(problem: Problem, call: Call): Html {
  const { code, cause } = problem;
  const { title, meaning, next } = wordsOf(code);
  const waitMs = problem.retryAfterMs ?? (code === "upstream_rate_limited" ? upstreamRetryAfterSeconds * 1_000 : null);
  // A stream that broke off has the status of its beginning.
  const known = Object.hasOwn(errorTable, code) ? errorTable[code as ErrorCode].status : null;
  const place = known === null ? null : `/reference/inference#error-${code}`;
  return markup`<section class="problem-box ${(known ?? problem.status) < 500 ? "warn" : "bad"}" aria-labelledby="problem-title">
    <h2 id="problem-title">${title}</h2>
    <p>${meaning}</p>
    ${cause === null ? null : markup`<p><b>Cause:</b> ${content(cause)}</p>`}
    <p><b>Next step:</b> ${next(linksOf(call), problem)}</p>
    ${waitMs === null ? null : markup`<p><b>Retry-After:</b> the answer asked the caller to wait ${duration(waitMs)}.</p>`}
    ${place === null ? null : markup`<p class="under"><a href="${place}"><code>${code}</code> in the reference</a></p>`}
  </section>`;
}

/** What a code means, in a few words. */
export function titleOf(code: string): string {
  return wordsOf(code).title;
}

function wordsOf(code: string): Words {
  return Object.hasOwn(words, code) ? words[code as keyof typeof words] : unknown;
}

interface Links {
  /** A link for those who may see the page, else its words. */
  to(path: string, label: string): Html;
  /** A page of one key. */
  key(id: string): Html;
  model(id: string): Html;
}

function linksOf(call: Call): Links {
  const to = (path: string, label: string): Html => markup`<a href="${call.link(path)}">${label}</a>`;
  return {
    to: (path, label) => (call.offers(path) ? to(path, label) : markup`${label}`),
    key: (id) => to(`/keys/${id}`, "the key’s page"),
    model: (id) => (call.offers("/models") ? to(`/models/${id}`, "the model’s page") : userText(id)),
  };
}

interface Words {
  title: string;
  meaning: string;
  next: (links: Links, about: Pick<Problem, "key" | "model">) => Html;
}

const unknown: Words = {
  title: "The request ended with an error",
  meaning: "This version of Weir does not know the code.",
  next: tryAgain,
};

function tryAgain(): Html {
  return markup`Try again. Clients that retry do so by themselves.`;
}

/** Where the provider's figures are. */
function figures({ model }: Links, about: Pick<Problem, "model">): Html | null {
  return about.model === null ? null : markup`How its providers do is on ${model(about.model)}.`;
}

const words = {
  invalid_request: {
    title: "The request is not valid",
    meaning:
      "A field is missing, has the wrong type or is out of range. Weir checks fields before it reserves or sends anything.",
    next: () => markup`Change the field. Unchanged, the request is refused again.`,
  },
  unsupported_parameter: {
    title: "A field is not supported",
    meaning: "Weir or a provider of this model does not take the field or its value. Nothing is dropped in silence.",
    next: ({ to }) => markup`Leave the field out, or choose a model that supports it under ${to("/models", "Models")}.`,
  },
  upstream_rejected: {
    title: "The provider rejected the request",
    meaning: "The provider says that the request is at fault.",
    next: () => markup`Change what the cause names. Unchanged, the request is rejected again.`,
  },
  invalid_api_key: {
    title: "The key is not valid",
    meaning: "The key is missing, malformed, unknown or revoked, or its owner cannot use it.",
    next: ({ to }) => markup`Use an active key of ${to("/keys", "Keys")}.`,
  },
  insufficient_credit: {
    title: "Not enough credit",
    meaning: "A request reserves the most that it may cost. That was more than the credit left, open requests counted.",
    next: ({ to }) =>
      markup`Add credit under ${to("/top-ups", "Credit by card")} or ask the operator, wait until open requests end, or lower <code>max_tokens</code>.`,
  },
  key_spend_limit_exceeded: {
    title: "The key is at its spend limit",
    meaning:
      "What the key has spent, what its open requests reserve, and the most that this one may cost together pass the limit.",
    next: ({ key }, about) =>
      markup`Raise the limit on ${about.key === null ? "the member’s page" : key(about.key)}, or wait: days and months begin at 00:00 UTC. A lower <code>max_tokens</code> reserves less.`,
  },
  account_spend_limit_exceeded: {
    title: "The workspace or the member is at a spend limit",
    meaning: "What was spent, what open requests reserve, and the most that this one may cost together pass the limit.",
    next: ({ to }) =>
      markup`An admin raises it in ${to("/settings", "Settings")} or under ${to("/members", "Members")}. Or wait: days and months begin at 00:00 UTC.`,
  },
  gateway_disabled: {
    title: "The platform or the endpoint is off",
    meaning: "The operator has switched off the platform for this workspace, or has not switched on this endpoint.",
    next: () => markup`Ask the operator to switch it on.`,
  },
  model_not_found: {
    title: "There is no such model",
    meaning: "The catalog does not have the id that the request names.",
    next: ({ to }) => markup`Use an id of ${to("/models", "Models")}. <code>GET /models</code> lists the same.`,
  },
  idempotency_in_progress: {
    title: "The same request is running",
    meaning: "Another request with this Idempotency-Key was running, or not booked yet.",
    next: () => markup`Wait, then send it again with the same Idempotency-Key.`,
  },
  idempotency_spent: {
    title: "The same request was answered before",
    meaning: "A request with this Idempotency-Key was answered or charged, and no request runs twice.",
    next: () => markup`Look for the first one among the requests. A new request needs a new Idempotency-Key.`,
  },
  request_too_large: {
    title: "The request is too large",
    meaning: "Its body is larger than 8 MiB.",
    next: () => markup`Send fewer or shorter messages.`,
  },
  idempotency_mismatch: {
    title: "The Idempotency-Key belongs to another request",
    meaning: "The Idempotency-Key was used with another body.",
    next: () => markup`Use a new Idempotency-Key for each new request.`,
  },
  rate_limited: {
    title: "Too many requests",
    meaning: "The key has reached its requests per minute, or has too many requests under way.",
    next: ({ key }, about) =>
      markup`Wait as Retry-After says. ${about.key === null ? null : markup`The limit is on ${key(about.key)}.`}`,
  },
  upstream_rate_limited: {
    title: "The provider limits the rate",
    meaning: "The provider gets too many requests from this service at the moment.",
    next: () =>
      markup`Try again after the wait. With fallbacks on, Weir has asked another provider of the model, if there is one.`,
  },
  internal_error: {
    title: "Weir failed",
    meaning: "An unexpected error of Weir. The request is not at fault, and the operator’s log has the cause.",
    next: () => markup`Try again. If it happens again, give the operator the time and the id of this request.`,
  },
  upstream_error: {
    title: "The provider failed",
    meaning: "The provider failed, was unreachable, or broke off its answer.",
    next: (links, about) => markup`Try again. ${figures(links, about)}`,
  },
  upstream_auth: {
    title: "The provider refused the credentials",
    meaning: "The provider refused the service’s key or account, or the workspace’s own key. The request is not at fault.",
    next: ({ to }) =>
      markup`The operator checks the account at the provider. An admin replaces an own key under ${to("/provider-keys", "Provider keys")}.`,
  },
  model_unavailable: {
    title: "The model cannot be called",
    meaning: "The catalog has the model, but no provider of it may serve this workspace at the moment.",
    next: ({ to, model }, about) =>
      markup`See what is missing ${about.model === null ? markup`under ${to("/models", "Models")}` : markup`on ${model(about.model)}`}.`,
  },
  auth_unavailable: {
    title: "Keys could not be checked",
    meaning: "The part of Weir that knows the keys did not answer in time.",
    next: tryAgain,
  },
  billing_unavailable: {
    title: "Credit could not be checked",
    meaning:
      "The part of Weir that counts credit did not answer in time, or the gateway was at its limit. No request runs without being metered.",
    next: tryAgain,
  },
  upstream_timeout: {
    title: "The provider did not answer in time",
    meaning: "The provider was silent for too long, or its answer took longer than any answer may.",
    next: (links, about) => markup`Try again, or ask for a shorter answer. ${figures(links, about)}`,
  },
  client_gone: {
    title: "The client disconnected",
    meaning:
      "The client closed the connection before the answer ended, as Stop in the Workbench does. What was produced by then is charged.",
    next: () => markup`Nothing, if someone stopped it. Otherwise raise the client’s timeout, or stream the answer.`,
  },
} satisfies Record<ErrorCode | "client_gone", Words>;
