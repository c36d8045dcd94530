/**
 * The second step of a sign-in: a code of the person's app. A sealed cookie carries the first step until then, and there is no session
 * before the code. People without an app pass; pages that demand one say so themselves (show-page.ts).
 */
import { DomainError, errorStatuses } from "../../accounts/errors.ts";
import { firstStepMs } from "../../accounts/limits.ts";
import type { Person } from "../../accounts/members/principal.ts";
import { checkSecondFactor, hasSecondFactor } from "../../accounts/second-factor/second-factor.ts";
import { openFirstStep, sealFirstStep, type FirstStep } from "../../accounts/second-factor/proofs.ts";
import { endedHostCookie, hostCookie, hostCookieValue } from "../../accounts/sessions/browser.ts";
import { markup } from "../../http/html.ts";
import { sentence } from "../page-forms.ts";
import type { FormFields, ConsoleParts } from "../page.ts";
import { emptyForm, form, type FormState } from "../look/forms.ts";
import { plainResponse } from "../shell.ts";
import { codeForm } from "./second-factor-forms.ts";
import { seeOther } from "../redirect.ts";
import { receiveSignInForm, type SignInCall, openSession } from "./sign-in-call.ts";

const cookieName = "weir-step";
const codePath = "/console/sign-in/code";
/** A longer path would not fit into the cookie. */
const nextCharactersMax = 1_000;

/** After a right password or a mailed link: starts a session, or leads to the second step. */
export async function afterFirstStep(step: FirstStep, call: SignInCall, parts: ConsoleParts): Promise<Response> {
  if (!(await hasSecondFactor(step.email, parts.control.sql))) return openSession({ ...step, bothFactors: false }, call, parts);
  const next = step.next.length > nextCharactersMax ? "/console" : step.next;
  const value = await sealFirstStep({ ...step, next }, parts.control);
  return seeOther(codePath, [hostCookie({ name: cookieName, value, ageMsMax: firstStepMs }, call.request)]);
}

/** null: the path does not belong to the second step. */
export async function secondStepAnswer(call: SignInCall, parts: ConsoleParts): Promise<Response | null> {
  const { path, request } = call;
  if (`/console${path}` !== codePath) return null;
  const step = await openFirstStep(hostCookieValue(cookieName, request), parts.control);
  if (request.method !== "POST") return codePage(null);
  using received = await receiveSignInForm(call);
  return await takeCode(step, await received.read(), call, parts);
}

async function takeCode(step: FirstStep, typed: FormFields, call: SignInCall, parts: ConsoleParts): Promise<Response> {
  try {
    await checkSecondFactor({ person: personOf(step), code: typed.text("code").slice(0, 100) }, parts.control);
  } catch (error) {
    return refusedPage(error, codePage);
  }
  return openSession({ ...step, bothFactors: true }, call, parts, [endedHostCookie(cookieName, call.request)]);
}

function personOf({ email, way }: FirstStep): Person {
  return { kind: "person", email, carriedBy: way === "link" ? "sign-in link" : "session" };
}

/** @throws any error that is not a refusal of the code */
function refusedPage(error: unknown, page: (problem: string, status: number) => Response): Response {
  if (!(error instanceof DomainError)) throw error;
  return page(sentence(error.message), errorStatuses[error.code]);
}

function codePage(problem: string | null, status = 200): Response {
  const recovery = form({
    id: "recovery",
    action: codePath,
    fields: [
      {
        kind: "text",
        name: "code",
        label: "Recovery code",
        hint: "One of the ten that you got with the app. Each works once.",
        required: true,
        charactersMax: 40,
      },
    ],
    state: emptyForm,
    submit: "Continue",
  });
  const main = markup`${codeForm({ id: "code", action: codePath, problem: problemOf(problem), submit: "Continue" })}
    <p><a href="/console/sign-in">Back to the sign-in</a></p>
    <details><summary>Use a recovery code</summary>${recovery}</details>`;
  return plainResponse({ title: "Second step", main }, { status });
}

function problemOf(message: string | null): FormState["problem"] {
  return message === null ? null : { field: "code", message };
}
