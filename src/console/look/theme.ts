/**
 * Light, dark, or as the system has it. What a person chose is in a cookie, so that each page comes in its theme and nothing flashes; the
 * style does the rest, since each of its colours has a pair. The choice belongs to the browser, not to the account: a dark room is a matter
 * of the place. The public pages follow the system, since they are the same bytes for everyone.
 */
import { hostCookie, hostCookieValue } from "../../accounts/sessions/browser.ts";
import { markup, type Html, trusted } from "../../http/html.ts";

export type Theme = "system" | "light" | "dark";

const words: Record<Theme, string> = { system: "System", light: "Light", dark: "Dark" };
const themes: readonly Theme[] = ["system", "light", "dark"];

/** Receives an empty POST with the theme in its address. */
export const themePath = "/console/theme";

const cookieName = "weir-theme";
const chosenMs = 365 * 24 * 60 * 60 * 1_000;

export function isTheme(text: string | null): text is Theme {
  return themes.some((theme) => theme === text);
}

export function themeOf(request: Request): Theme {
  const chosen = hostCookieValue(cookieName, request);
  return isTheme(chosen) ? chosen : "system";
}

export function themeCookie(theme: Theme, request: Request): string {
  return hostCookie({ name: cookieName, value: theme, ageMsMax: chosenMs }, request);
}

/** Any page of the Console, also a sign-in or an error, in the theme of its browser. */
export async function inTheme(request: Request, page: Response): Promise<Response> {
  const theme = themeOf(request);
  if (theme === "system" || !(page.headers.get("content-type") ?? "").startsWith("text/html")) return page;
  const text = await page.text();
  const themed = text
    .replace('<html lang="en">', `<html lang="en" data-theme="${theme}">`)
    .replace('<meta name="color-scheme" content="light dark" />', `<meta name="color-scheme" content="${theme}" />`);
  return new Response(themed, page);
}

/** A button for the menu, which changes to the next theme. */
export function themeButton(theme: Theme): Html {
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system";
  const label = `Theme: ${words[theme].toLowerCase()}. Change to ${words[next].toLowerCase()}`;
  return markup`<form method="post" action="${addressOf(next)}"><button class="quiet theme" type="submit" aria-label="${label}" title="${label}"><svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="${trusted(drawings[theme])}" /></svg></button></form>`;
}

/** A button for each theme. */
export function themeChoice(theme: Theme): Html {
  const button = (one: Theme): Html =>
    markup`<form method="post" action="${addressOf(one)}"><button class="quiet" type="submit" aria-pressed="${String(one === theme)}">${words[one]}</button></form>`;
  return markup`<div class="themes">${themes.map(button)}</div>`;
}

function addressOf(theme: Theme): string {
  return `${themePath}?to=${theme}`;
}

/** On a square of 16. */
const drawings: Record<Theme, string> = {
  system: "M2.5 3.5h11v7.5h-11zM6 13.5h4M8 11v2.5",
  light:
    "M8 5.2a2.8 2.8 0 1 0 0 5.6a2.8 2.8 0 0 0 0-5.6zM8 1.5v1.6M8 12.9v1.6M1.5 8h1.6M12.9 8h1.6M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M3.4 12.6l1.1-1.1M11.5 4.5l1.1-1.1",
  dark: "M13 9.6A5.5 5.5 0 1 1 6.4 3a4.4 4.4 0 0 0 6.6 6.6z",
};
