/** Signs a browser in to the Console of a running service. */
import type { Fleet } from "../../support/servers/fleet.ts";
import type { Visit } from "../browser.ts";

/** By a link that works once. The visit stays at the page after it. @param email null: as the operator, by the token */
export async function signIn(visitor: Visit, fleet: Fleet, email: string | null): Promise<void> {
  if (email === null) return signInAsOperator(visitor, fleet.operator().token);
  const { url } = await fleet.operator().call<{ url: string }>("POST", "/session-links", { email });
  const page = await visitor.open(new URL(url).pathname);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(/\/console(?!\/link)/);
  visitor.faults.splice(0);
}

async function signInAsOperator(visitor: Visit, token: string): Promise<void> {
  const page = await visitor.open("/console/sign-in?next=%2Fconsole%2Faccount");
  await page.locator("summary", { hasText: "operator" }).click();
  await page.getByLabel("Operator token").fill(token);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/console\/account/);
  visitor.faults.splice(0);
}
