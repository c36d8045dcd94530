/** The command line over a fresh database with the workspace "w", and a folder for its input files. */
import { Control } from "./control.ts";
import { openEmbeddedDatabase, type TestDatabase } from "./servers/databases.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { Weir } from "./weir.ts";

export interface CommandLine extends AsyncDisposable {
  database: TestDatabase;
  control: Control;
  weir: Weir;
  /** A path. */
  folder: string;
}

export async function openCommandLine(): Promise<CommandLine> {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await openEmbeddedDatabase());
  const { path: folder } = stack.use(await temporaryFolder());
  const control = new Control(database.sql);
  await control.workspace("w");
  const weir = stack.use(new Weir(control));
  const opened = stack.move();
  return { database, control, weir, folder, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
