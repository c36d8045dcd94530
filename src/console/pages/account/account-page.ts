/** The person's own account: password and sessions. */
import { DomainError } from "../../../accounts/errors.ts";
import type { SessionView } from "../../../accounts/sessions/schema.ts";
import { requireRecentSignIn } from "../../../accounts/sessions/session.ts";
import { setPassword } from "../../../accounts/sessions/set-password.ts";
import { passwordCharactersMin } from "../../../accounts/limits.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { FormFields } from "../../form.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";

export const accountPage: Page = {
  of: "person",
  path: "/account",
  navigation: null,
  roles: [],
  render,
  actions: { password: choosePassword, end: endSession },
};

async function render(call: PageCall): Promise<PageContent> {
  const { email } = call.viewer;
  if (email === null) return { title: "Operator", main: markup`<p>You hold the operator token, which is no person's account.</p>` };
  const { data } = await call.control<{ data: SessionView[] }>("GET", "/sessions");
  return { title: "Your account", lead: markup`<p class="lead" dir="auto">${email}</p>`, main: markup`${passwordForm(call)}${sessions(data, call)}` };
}

function passwordForm({ formToken, refused, viewer }: PageCall): Html {
  const problem = refused?.action === "password" ? markup`<p class="problem" id="password-problem">${refused.message}.</p>` : null;
  return markup`<section><h2>Password</h2>
    <form method="post" class="card">
      <input type="hidden" name="form_token" value="${formToken}" /><input type="hidden" name="action" value="password" />
      <input type="hidden" name="email" autocomplete="username" value="${viewer.email ?? ""}" />
      <p><label for="password">New password</label><span class="under">At least ${passwordCharactersMin} characters. All your other sessions end.</span>
        <input id="password" name="password" type="password" autocomplete="new-password" required /></p>${problem}
      <p><button>Set the password</button></p>
    </form></section>`;
}

function sessions(data: readonly SessionView[], { formToken, viewer }: PageCall): Html {
  const rows = data.map(
    ({ id, agent, way, used_at }) => markup`<tr><td dir="auto">${agent || "Unknown browser"}</td><td>${way}</td><td><time datetime="${used_at}">${used_at}</time></td>
      <td>${id === viewer.session.id ? "This one" : markup`<form method="post"><input type="hidden" name="form_token" value="${formToken}" /><input type="hidden" name="action" value="end" /><input type="hidden" name="session" value="${id}" /><button class="quiet">End<span class="unseen"> this session</span></button></form>`}</td></tr>`,
  );
  return markup`<section><h2>Sessions</h2><table><thead><tr><th>Browser</th><th>Signed in by</th><th>Last used</th><th></th></tr></thead><tbody>${rows}</tbody></table></section>`;
}

async function choosePassword({ viewer, parts, nowMs, path }: PageCall, form: FormFields): Promise<ActionResult> {
  const { email, session } = viewer;
  if (email === null) throw new DomainError("forbidden", "The operator has no password");
  requireRecentSignIn(session, { nowMs, action: "set a password" });
  const { control, passwords } = parts;
  const password = form.raw("password");
  await setPassword({ email, carriedBy: "session", password, except: session.id }, { ...control, passwords });
  return { goTo: path, said: "The password is set" };
}

async function endSession({ control, path }: PageCall, form: FormFields): Promise<ActionResult> {
  await control("DELETE", `/sessions/${encodeURIComponent(form.text("session"))}`);
  return { goTo: path, said: "The session has ended" };
}
