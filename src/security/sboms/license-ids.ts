/**
 * The ids of SPDX's license and exception lists, including withdrawn ones: the values that CycloneDX allows as a license's
 * `id`. Its schemas list them all and grow with SPDX's lists; here they come from a package that follows those lists.
 */
import deprecated from "spdx-license-ids/deprecated.json" with { type: "json" };
import current from "spdx-license-ids/index.json" with { type: "json" };

const ids: ReadonlySet<string> = new Set([...current, ...deprecated]);

/** The package omits the withdrawn ids that express "or later" with a plus sign. */
const orLater = /^(?:AGPL|GPL|LGPL)-\d\.\d\+$/;
/** Most exceptions have this in their name. */
const exception = { letters: /^[A-Za-z0-9.-]+$/, word: /[A-Za-z0-9.-]-exception(?:$|-[A-Za-z0-9.-])/ };
const otherExceptions: ReadonlySet<string> = new Set(["GPL-CC-1.0", "Linux-syscall-note", "LLGPL", "SHL-2.0", "SHL-2.1"]);

/** Ids are case-sensitive: `MIT`, not `mit`. */
export function isSpdxLicenseId(id: string): boolean {
  return ids.has(id) || orLater.test(id) || (exception.letters.test(id) && exception.word.test(id)) || otherExceptions.has(id);
}
