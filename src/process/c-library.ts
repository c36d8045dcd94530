/**
 * The system's C library, for the few calls that the runtime does not offer: the lock of a data folder and leaving a shared port. Its file
 * name differs by system and C library, so the known ones are tried. Callers decide what happens
 * if none can be called, as on another runtime than Bun.
 */
import type { dlopen, FFIFunction } from "bun:ffi";

/** null on another runtime than Bun. */
const ffi = "bun" in process.versions ? await import("bun:ffi") : null;

const libraries =
  process.platform === "darwin"
    ? ["libSystem.B.dylib"]
    : ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

/** @returns the functions; null if the library cannot be called or lacks one of them */
export function openLibrary<Functions extends Record<string, FFIFunction>>(
  functions: Functions,
): ReturnType<typeof dlopen<Functions>>["symbols"] | null {
  if (ffi === null) return null;
  for (const library of libraries) {
    try {
      return ffi.dlopen(library, functions).symbols;
    } catch {
      // It has another name, or cannot be called.
    }
  }
  return null;
}

const errnoName = process.platform === "darwin" ? "__error" : "__errno_location";
const errno = openLibrary({ [errnoName]: { args: [], returns: "ptr" } });

/** Why the last call failed, read right after it; 0 if the library does not say. */
export function lastError(): number {
  const address = errno?.[errnoName]?.();
  return typeof address === "number" ? (ffi?.read.i32(address) ?? 0) : 0;
}
