import { expect, test } from "bun:test";
import { browserName } from "../../src/console/pages/account-page.ts";

test.each([
  [
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
    "Chrome 131 on Linux",
  ],
  [
    "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0",
    "Edge 131 on Windows",
  ],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
    "Safari 18 on macOS",
  ],
  ["Mozilla/5.0 (Android 15; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0", "Firefox 132 on Android"],
  ["curl/8.5.0", "curl/8.5.0"],
  ["", "Unknown"],
])("a session's browser %p is called %p", (agent, name) => {
  expect(browserName(agent)).toBe(name);
});
