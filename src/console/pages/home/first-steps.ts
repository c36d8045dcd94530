/** What to do in a workspace without requests. */
import type { KeyView } from "../../../accounts/keys/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { PageCall } from "../../page.ts";

export async function firstSteps(call: PageCall): Promise<Html> {
  if (!call.offers("/keys/new") || call.viewer.email === null)
    return markup`<div class="state"><p>No request has ended here yet. Its cost is shown here once a member sends one.</p></div>`;
  const { data: keys } = await call.control<{ data: KeyView[] }>("GET", "/keys", { limit: "20" });
  const hasKey = keys.some(({ kind }) => kind === "inference");
  const bench = call.offers("/workbench")
    ? markup`<li><a href="${call.link("/workbench")}">Try a model in the Workbench</a>. It needs no key.</li>`
    : null;
  return markup`<section aria-labelledby="first-title"><h2 id="first-title">Your first request</h2>
    <ol>
      ${bench}
      <li><a href="${call.link("/keys/new")}">${hasKey ? "Create another key" : "Create a key"}</a> for your program. It is shown once, with a first request to paste.${hasKey ? markup` Or use <a href="${call.link("/keys")}">one that you have</a>.` : null}</li>
      <li>See <a href="${call.link("/requests")}">what it cost</a>, to the nano-dollar. This page then shows the month.</li>
    </ol>
  </section>`;
}
