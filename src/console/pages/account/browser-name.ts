/** A browser in words, from what it says of itself. It is a hint for its owner, and proves nothing. */

/** The first that occurs: several browsers name others too. */
const browsers: readonly (readonly [form: RegExp, name: string])[] = [
  [/\bEdgA?\/(\d+)/, "Edge"],
  [/\bOPR\/(\d+)/, "Opera"],
  [/\bFirefox\/(\d+)/, "Firefox"],
  [/\b(?:Headless)?Chrome\/(\d+)/, "Chrome"],
  [/\bVersion\/(\d+)/, "Safari"],
];

const systems: readonly (readonly [form: RegExp, name: string])[] = [
  [/\bAndroid\b/, "Android"],
  [/\b(?:iPhone|iPad)\b/, "iOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMacintosh\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

/** @param agent of the header User-Agent @returns such as `Chrome 131 on Linux`; what is not known stays as it is */
export function browserName(agent: string): string {
  const found = browsers.flatMap(([form, name]) => {
    const version = form.exec(agent)?.[1];
    return version === undefined ? [] : [`${name} ${version}`];
  })[0];
  if (found === undefined) return agent === "" ? "Unknown" : agent;
  const system = systems.find(([form]) => form.test(agent))?.[1];
  return system === undefined ? found : `${found} on ${system}`;
}
