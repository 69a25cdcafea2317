import { defineCommand, type ArgsDef, type CommandContext, type CommandDef, type CommandMeta } from "citty";
import { plainly, type WRITTEN } from "./plainly.ts";

const json = {
  type: "boolean",
  description: "Print one JSON document to standard output and nothing else",
} as const;

/** A command of `parley` that does something; those that only have commands below them are citty's. */
interface Definition<T extends ArgsDef> {
  meta: CommandMeta;
  args?: T;
  /** @returns what `--json` writes; an error is one sentence and exit code 1 */
  run(context: CommandContext<T>): Promise<object | typeof WRITTEN>;
}

/** Defines a command, with `--json`: there is none without. */
export function command<const T extends ArgsDef>({ meta, args, run }: Definition<T>): CommandDef<T> {
  return defineCommand<T>({ meta, args: { ...(args as T), json }, run: plainly(run) });
}
