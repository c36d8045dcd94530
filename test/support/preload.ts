/** Loaded before every test file (bunfig.toml); its hook runs after the last one. */
import { afterAll } from "bun:test";
import { runAtEnd } from "./processes/at-end.ts";

afterAll(runAtEnd);
