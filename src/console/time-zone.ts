/**
 * The time zone in which days begin for a person: what they chose, in a cookie, or UTC. An address that names a zone has that one, so that
 * a shared link shows the same days to everyone. The choice belongs to the browser, like the zone of its clock in which times are shown:
 * who travels sees both change. Limits and statements are in UTC whatever is chosen.
 */
import { hostCookie, hostCookieValue } from "../accounts/sessions/browser.ts";
import { DomainError } from "../accounts/errors.ts";
import { isTimeZone } from "../gateway/usage/periods.ts";
import { markup, type Html } from "../http/html.ts";
import { actionButton } from "./look/forms.ts";
import { nextPath, saidCookie, seeOther } from "./redirect.ts";

/** Receives a form with the zone as `to`. */
export const zonePath = "/console/time-zone";

const cookieName = "weir-zone";
const chosenMs = 365 * 24 * 60 * 60 * 1_000;

/** An IANA name; a cookie with another text is ignored. */
export function zoneOf(request: Request): string {
  const chosen = hostCookieValue(cookieName, request);
  const zone = chosen === null ? "UTC" : decoded(chosen);
  return isTimeZone(zone) ? zone : "UTC";
}

/** Keeps the zone, and leads back to the page, whose days are then those of the choice. @throws DomainError invalid_field */
export function zoneChosen(zone: string, request: Request): Response {
  if (!isTimeZone(zone)) throw new DomainError("invalid_field", "There is no such time zone: use a name such as Europe/Berlin");
  const cookie = hostCookie({ name: cookieName, value: encodeURIComponent(zone), ageMsMax: chosenMs }, request);
  return seeOther(backFrom(request), [cookie, saidCookie({ said: `Days begin at 00:00 in ${zone} now.` }, request)]);
}

/** The page that had the button, without the zone and the place in its list. */
function backFrom(request: Request): string {
  const from = URL.parse(request.headers.get("referer") ?? "");
  if (from === null) return "/console";
  for (const name of ["tz", "before"]) from.searchParams.delete(name);
  return nextPath(from.pathname + from.search);
}

/** For a person who knows the name of their zone, and for those without a script. */
export function zoneChoice(zone: string): Html {
  const zones = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((one) => one !== "UTC")];
  const options = zones.map((one) => markup`<option value="${one}"${one === zone ? markup` selected` : null}>${one}</option>`);
  return markup`<form class="form" method="post" action="${zonePath}">
    <div class="field"><label for="zone">Days begin at 00:00 in</label>
      <p class="hint" id="zone-hint">For Spend and Requests, in this browser. Limits and statements are in UTC.</p>
      <select id="zone" name="to" aria-describedby="zone-hint" autocomplete="off">${options}</select></div>
    <div class="form-end"><button type="submit">Save</button></div>
  </form>`;
}

export function zoneButton(zone: string): Html {
  return actionButton({ action: zonePath, label: `Use ${zone}`, hidden: { to: zone } });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
