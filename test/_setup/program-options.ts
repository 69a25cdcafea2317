import { parseArgs, type ParseArgsConfig } from "node:util";

type Options = NonNullable<ParseArgsConfig["options"]>;

/**
 * What a program was called with. `--help` shows what there is and ends it; so does a word that it does not know, with 1.
 *
 * @param help ends with a new line
 */
export function readOptions<T extends Options>(
  help: string,
  options: T,
): ReturnType<typeof parseArgs<{ options: T }>>["values"] {
  if (process.argv.slice(2).some((word) => word === "--help" || word === "-h")) {
    process.stdout.write(help);
    process.exit(0);
  }
  try {
    return parseArgs<{ options: T }>({ options }).values;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${help}`);
    process.exit(1);
  }
}
