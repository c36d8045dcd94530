/** Loaded before every test file (bunfig.toml); its hook runs after the last one. */
import { afterAll, setDefaultTimeout } from "bun:test";
import { runAtEnd } from "./processes/at-end.ts";

/**
 * As in `npm test`, also where Bun runs a file directly. Its own 5 s end a hook on a busy machine, and what that hook goes on doing then
 * meets the next file's rows.
 */
setDefaultTimeout(30_000);

/** All processes that the tests started end here. */
afterAll(runAtEnd, 60_000);
