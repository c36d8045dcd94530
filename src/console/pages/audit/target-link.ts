import { markup, type Html } from "../../../http/html.ts";
import { userText } from "../../look/user-text.ts";
import type { PageCall } from "../../page.ts";

/** Which page shows a target, by the form of its id. */
const places: readonly { form: RegExp; page: string }[] = [
  { form: /^key-[a-z2-7]{26}$/, page: "/keys/" },
  { form: /^con-[a-z2-7]{26}$/, page: "/connections/" },
  { form: /^prj_[a-z0-9]{26}$/, page: "/projects/" },
  { form: /^prd_[a-z0-9]{26}$/, page: "/products/" },
  { form: /^fnd_[a-z0-9]{26}$/, page: "/findings/" },
  { form: /^top-[a-z2-7]{26}$/, page: "/top-ups/" },
  { form: /^own-[a-z2-7]{26}$/, page: "/provider-keys/" },
  { form: /^[^\s@]+@[^\s@]+$/, page: "/members/" },
];

/** An id stays in one piece, as long as its column has the room. */
function whole(target: string): Html {
  return /^[a-z]+[-_][a-z0-9]{26}$/.test(target)
    ? markup`<small><bdi class="long whole">${target}</bdi></small>`
    : userText(target);
}

/** A target that has a page here is a link; what was deleted since leads to a page that says so. */
export function targetLink(target: string, call: Pick<PageCall, "link">): Html {
  const place = places.find(({ form }) => form.test(target));
  if (!place) return whole(target);
  return markup`<a href="${call.link(place.page + encodeURIComponent(target))}">${whole(target)}</a>`;
}
