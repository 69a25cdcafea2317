import type { ArgDef, CommandDef } from "citty";

/** What may be written for an option or a word of a command. */
interface Value {
  description: string;
  /** Everything that may be written; empty: any text. */
  choices: string[];
  /** It is the path of a file or folder. */
  isPath: boolean;
}

/** `--name`, with a value or without. */
export interface Option extends Value {
  name: string;
  takesValue: boolean;
}

/** A command and all below it, as far as a shell has to know. */
export interface DescribedCommand {
  /** `/bots/new`; empty for `parley` itself. */
  path: string;
  name: string;
  description: string;
  options: Option[];
  words: Value[];
  commands: DescribedCommand[];
}

type Resolvable = unknown | (() => unknown);
const resolved = async <T>(value: Resolvable): Promise<T> =>
  (await (typeof value === "function" ? (value as () => unknown)() : value)) as T;

/** Reads a command's definition, and loads what stands below it. `valueHint` is `file`, or the choices with `|` between. */
export async function describeCommand(
  definition: CommandDef<any>,
  path = "",
  name = "parley",
): Promise<DescribedCommand> {
  const meta = await resolved<{ description?: string } | undefined>(definition.meta);
  const args = Object.entries((await resolved<Record<string, ArgDef> | undefined>(definition.args)) ?? {});
  const below = Object.entries(
    (await resolved<Record<string, unknown> | undefined>(definition.subCommands)) ?? {},
  );
  const commands = below.map(async ([word, one]) =>
    describeCommand(await resolved<CommandDef<any>>(one), `${path}/${word}`, word),
  );
  return {
    path,
    name,
    description: meta?.description ?? "",
    options: args.flatMap(([option, arg]) =>
      arg.type === "positional"
        ? []
        : [{ name: option, takesValue: arg.type !== "boolean", ...valueOf(arg) }],
    ),
    words: args.flatMap(([, arg]) => (arg.type === "positional" ? [valueOf(arg)] : [])),
    commands: await Promise.all(commands),
  };
}

const valueOf = ({ description = "", valueHint = "" }: ArgDef): Value => ({
  description,
  choices: valueHint.includes("|") ? valueHint.split("|") : [],
  isPath: valueHint === "file",
});

/** The command and all below it, in one row. */
export const flat = (one: DescribedCommand): DescribedCommand[] => [one, ...one.commands.flatMap(flat)];
