/** Reads a file that an agent names, and refuses files that its user would not send. */
import { constants } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import { basename, relative, resolve, sep } from "node:path";
import { attachmentBytesMax } from "../../src/security/limits.ts";
import { DomainError } from "../../src/accounts/errors.ts";

/** The usual names of key files. Hidden files and folders (.env, .ssh, .weir) are refused as well. */
const secretNames = /^id_|\.(pem|key|p12|pfx|ppk|jks|kdbx)$/i;

/**
 * Reads one regular file of at most 50 MiB within the root, through no symbolic link that leads out of it.
 * @throws DomainError with the reason
 */
export async function readAttachment({
  path,
  root,
}: {
  path: string;
  root: string;
}): Promise<{ name: string; bytes: Uint8Array<ArrayBuffer> }> {
  const refuse = (cause: string) => new DomainError("invalid_field", `Cannot attach ${JSON.stringify(path)}: ${cause}`);
  const top = await realpath(root);
  const file = await realpath(resolve(top, path)).catch(() => {
    throw refuse("the file does not exist");
  });
  const inside = relative(top, file).split(sep);
  if (inside[0] === "" || inside[0] === "..") throw refuse(`it is not in ${top}; --attach-root names another folder`);
  for (const name of [...inside, basename(path)]) {
    if (name.startsWith(".") || secretNames.test(name)) throw refuse("hidden files and keys are never attached");
  }
  if (!(await lstat(file)).isFile()) throw refuse("it is not a regular file");
  // If another file has taken its place meanwhile, a link is not followed and a pipe does not block.
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => {
    throw refuse("it cannot be read");
  });
  try {
    const { size } = await handle.stat();
    if (size > attachmentBytesMax) throw refuse(`it has ${size} bytes, more than the limit of ${attachmentBytesMax}`);
    const bytes = new Uint8Array(size);
    const { bytesRead } = await handle.read(bytes, 0, size, 0);
    return { name: basename(file), bytes: bytes.subarray(0, bytesRead) };
  } finally {
    await handle.close();
  }
}
