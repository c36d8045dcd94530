/**
 * What a request asks for, as its client wrote it. The runtime puts the Host header in front of it unchecked, and `new URL`
 * throws where that is no host: no header is to make a path unreadable.
 */
export function requestTarget({ url }: Request): { path: string; query: URLSearchParams } {
  const [, path = "", query = ""] = /^(?:[a-z]+:\/\/[^/?#]*)?([^?#]*)\??([^#]*)/i.exec(url) ?? [];
  return { path, query: new URLSearchParams(query) };
}
