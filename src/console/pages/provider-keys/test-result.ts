import type { OwnKeyTest, OwnKeyView } from "../../../gateway/own-keys/schema.ts";
import { markup } from "../../../http/html.ts";
import { badge } from "../../look/badge.ts";
import { emptyState } from "../../look/states.ts";
import { table } from "../../look/table.ts";
import type { PageCall, PageContent } from "../../page.ts";
import { keyState } from "./key-state.ts";

type Tested = OwnKeyTest["tests"][number];

/** What the provider answered for each model. */
export function testResult({ id, name, provider }: OwnKeyView, { tests, state }: OwnKeyTest, call: PageCall): PageContent {
  const answered = tests.filter(({ code }) => code === null).length;
  const results = table<Tested>({
    caption: "Tested models",
    columns: [
      { label: "Model", kind: "text", cell: ({ model }) => markup`<code>${model}</code>` },
      { label: "Result", kind: "badge", cell: ({ code }) => (code === null ? badge("good", "answered") : badge("bad", code)) },
    ],
    rows: tests,
    empty: emptyState("The catalog has no chat model of this provider to test.", null),
  });
  return {
    title: `Test of ${name ?? provider}`,
    trail: [{ path: call.link("/provider-keys"), label: "Provider keys" }],
    badge: keyState(state),
    lead: `${answered} of ${tests.length} calls were answered.`,
    main: markup`${results}<p><a class="button quiet" href="${call.link(`/provider-keys/${encodeURIComponent(id)}`)}">See the key</a></p>`,
  };
}
