/** Signs a browser in to the Console of a running service. */
import type { Fleet } from "../../support/servers/fleet.ts";
import type { Visit } from "../browser.ts";

/**
 * Without a page, by the session's cookie: first-minutes.test.ts and second-factor.test.ts sign in as people do.
 * @param email null: as the operator, by the token
 */
export async function signIn(visitor: Visit, fleet: Fleet, email: string | null): Promise<void> {
  const { token } = fleet.operator();
  const path = email === null ? "/console/sign-in" : await linkFor(email, fleet);
  const response = await fetch(fleet.url() + path, {
    method: "POST",
    headers: { "sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded" },
    body: email === null ? new URLSearchParams({ operator_token: token }) : "",
    redirect: "manual",
  });
  const [value] = response.headers.getSetCookie().flatMap((cookie) => /^weir=([\w-]+)/.exec(cookie)?.[1] ?? []);
  if (value === undefined) throw new Error(`The sign-in answered ${response.status}: ${await response.text()}`);
  await visitor.page.context().addCookies([{ name: "weir", value, url: fleet.url(), httpOnly: true, sameSite: "Lax" }]);
}

async function linkFor(email: string, fleet: Fleet): Promise<string> {
  const { url } = await fleet.operator().call<{ url: string }>("POST", "/session-links", { email });
  return new URL(url).pathname;
}
