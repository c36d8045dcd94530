/** The second step of a sign-in: a code of the person's app, or setting up an app where the role demands one. */
import { DomainError, errorStatuses } from "../../accounts/errors.ts";
import { firstStepMs } from "../../accounts/limits.ts";
import type { Person } from "../../accounts/members/principal.ts";
import { beginSecondFactor } from "../../accounts/second-factor/begin-second-factor.ts";
import { checkSecondFactor } from "../../accounts/second-factor/check-second-factor.ts";
import { confirmSecondFactor } from "../../accounts/second-factor/confirm-second-factor.ts";
import { openFirstStep, sealFirstStep, type FirstStep } from "../../accounts/second-factor/first-step.ts";
import { secondFactorOf, secondStep } from "../../accounts/second-factor/second-factor-of.ts";
import { endedHostCookie, hostCookie, hostCookieValue } from "../../accounts/sessions/cookie.ts";
import { markup, type Html } from "../../http/html.ts";
import type { FormFields } from "../form.ts";
import { emptyForm, form, type FormState } from "../look/forms/form.ts";
import { sentence } from "../page-forms.ts";
import type { ConsoleParts } from "../parts.ts";
import { plainResponse } from "../plain-page.ts";
import { codeForm, recoveryCodes, secretToScan } from "../second-factor/second-factor-forms.ts";
import { seeOther } from "../redirect.ts";
import { receiveSignInForm, type SignInCall } from "./sign-in-call.ts";
import { openSession, sessionCookies } from "./open-session.ts";

const cookieName = "weir-step";
const codePath = "/console/sign-in/code";
const appPath = "/console/sign-in/app";
/** A longer path would not fit into the cookie. */
const nextCharactersMax = 1_000;

/** Starts a session, or leads to the second step. The first one, a password or a link of a mail, has succeeded. */
export async function afterFirstStep(step: FirstStep, call: SignInCall, parts: ConsoleParts): Promise<Response> {
  const needed = secondStep(await secondFactorOf(step.email, { sql: parts.control.sql, oidc: parts.control.oidc !== null }));
  if (needed === "none") return openSession(step, call, parts);
  const next = step.next.length > nextCharactersMax ? "/console" : step.next;
  const value = await sealFirstStep({ ...step, next }, parts.control);
  const cookie = hostCookie({ name: cookieName, value, ageMsMax: firstStepMs }, call.request);
  return seeOther(needed === "code" ? codePath : appPath, [cookie]);
}

/** null: the path is none of the second step. */
export async function secondStepAnswer(call: SignInCall, parts: ConsoleParts): Promise<Response | null> {
  const { path, request } = call;
  const isCode = `/console${path}` === codePath;
  if (!isCode && `/console${path}` !== appPath) return null;
  const step = await openFirstStep(hostCookieValue(cookieName, request), parts.control);
  await requireStep(isCode ? "code" : "enrolment", step, parts);
  if (request.method !== "POST") return isCode ? codePage(null) : appPage();
  using received = await receiveSignInForm(call);
  const typed = await received.read();
  if (isCode) return takeCode(step, typed, call, parts);
  return typed.text("action") === "confirm" ? confirmApp(step, typed, call, parts) : beginApp(step, parts);
}

/** Nobody sets up a new app in place of giving a code of the present one. @throws DomainError forbidden */
async function requireStep(expected: "code" | "enrolment", { email }: FirstStep, { control }: ConsoleParts): Promise<void> {
  const needed = secondStep(await secondFactorOf(email, { sql: control.sql, oidc: control.oidc !== null }));
  if (needed !== expected) throw new DomainError("forbidden", "This sign-in has another second step: begin to sign in again");
}

async function takeCode(step: FirstStep, typed: FormFields, call: SignInCall, parts: ConsoleParts): Promise<Response> {
  try {
    await checkSecondFactor({ person: personOf(step), code: typed.text("code").slice(0, 100) }, parts.control);
  } catch (error) {
    return refusedPage(error, codePage);
  }
  return openSession(step, call, parts, [endedHostCookie(cookieName, call.request)]);
}

async function beginApp({ email }: FirstStep, { control }: ConsoleParts): Promise<Response> {
  const shown = await beginSecondFactor({ email, publicUrl: control.publicUrl }, control);
  return confirmPage(secretToScan(shown), null);
}

/** The recovery codes come with the session: they are shown only now. */
async function confirmApp(step: FirstStep, typed: FormFields, call: SignInCall, parts: ConsoleParts): Promise<Response> {
  let codes: string[];
  try {
    codes = await confirmSecondFactor({ person: personOf(step), code: typed.text("code").slice(0, 100) }, parts.control);
  } catch (error) {
    return refusedPage(error, (problem, status) => confirmPage(null, problem, status));
  }
  const cookies = [...(await sessionCookies(step, call, parts)), endedHostCookie(cookieName, call.request)];
  return plainResponse({ title: "Recovery codes", main: recoveryCodes(codes, step.next) }, { cookies });
}

function personOf({ email, way }: FirstStep): Person {
  return { kind: "person", email, carriedBy: way === "link" ? "sign-in link" : "session" };
}

/** @throws what is no refusal of the code */
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
    submit: "Go on",
  });
  const main = markup`${codeForm({ id: "code", action: codePath, problem: problemOf(problem), submit: "Go on" })}
    <p><a href="/console/sign-in">Back to the sign-in</a></p>
    <details><summary>Use a recovery code</summary>${recovery}</details>`;
  return plainResponse({ title: "Second step", main }, { status });
}

function appPage(): Response {
  const lead = "Admins sign in with a second factor: an app on a phone or computer that shows one-time codes. Set it up once.";
  const main = form({
    id: "app",
    action: appPath,
    hidden: { action: "begin" },
    fields: [],
    state: emptyForm,
    submit: "Show the QR code",
  });
  return plainResponse({ title: "Set up a second factor", lead, main });
}

/** @param secret null: it was shown before, and is not shown again */
function confirmPage(secret: Html | null, problem: string | null, status = 200): Response {
  const confirming = codeForm({
    id: "app",
    action: appPath,
    hidden: { action: "confirm" },
    problem: problemOf(problem),
    submit: "Turn it on",
  });
  const main = markup`${secret}${confirming}<p><a href="${appPath}">Begin with a new QR code</a></p>`;
  return plainResponse({ title: "Set up a second factor", main }, { status });
}

function problemOf(message: string | null): FormState["problem"] {
  return message === null ? null : { field: "code", message };
}
