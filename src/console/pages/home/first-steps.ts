/** What to do in a workspace without requests. */
import type { KeyView } from "../../../accounts/keys/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { PageCall } from "../../page.ts";

export async function firstSteps(call: PageCall): Promise<Html> {
  if (!call.offers("/keys/new") || call.viewer.email === null)
    return markup`<div class="state"><p>No request has ended here yet. Its cost is shown here once a member sends one.</p></div>`;
  const { data: keys } = await call.control<{ data: KeyView[] }>("GET", "/keys", { limit: "20" });
  const hasKey = keys.some(({ kind }) => kind === "inference");
  return markup`<section aria-labelledby="first-title"><h2 id="first-title">Your first request</h2>
    <ol class="steps">
      <li><a href="${call.link(hasKey ? "/keys" : "/keys/new")}">${hasKey ? "Use your key" : "Create a key"}</a>. It is shown once, with a first request to paste.</li>
      ${call.offers("/workbench") ? markup`<li>Or <a href="${call.link("/workbench")}">try a model in the Workbench</a>, without a key.</li>` : null}
      <li>See <a href="${call.link("/requests")}">what it cost</a>, to the nano-dollar. This page then shows the month.</li>
    </ol>
  </section>`;
}
