/**
 * How a server can be asked without the way over NATS. It is told over NATS: who reads it may ask there too, so that the two
 * passwords keep a shortcut as closed as NATS is.
 */
export interface ShortcutOffer {
  host: string;
  port: number;
  /** Said first, by who asks. */
  askPassword: string;
  /** Said in return: on the asker's machine another process may listen at such an address. */
  servePassword: string;
}

export function encodeOffer({ host, port, askPassword, servePassword }: ShortcutOffer): string {
  return [host, port, askPassword, servePassword].join(" ");
}

/** null: none is made. */
export function decodeOffer(text: string): ShortcutOffer | null {
  const [host = "", port, askPassword = "", servePassword = ""] = text.split(" ");
  return servePassword === "" ? null : { host, port: Number(port), askPassword, servePassword };
}
