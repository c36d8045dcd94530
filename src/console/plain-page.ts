/** A page without navigation: the sign-in, and errors. */
import type { Html } from "../http/html.ts";
import { plainPage } from "./look/frame/console-page.ts";
import type { Notice } from "./look/states.ts";
import { consoleResponse } from "./shell.ts";

interface Plain {
  title: string;
  lead?: string | Html | null;
  notice?: Notice | null;
  main: Html;
}

export function plainResponse(
  page: Plain,
  answer: { status?: number; headers?: Record<string, string>; cookies?: readonly string[] } = {},
): Response {
  return consoleResponse(plainPage(page, "/"), answer);
}
