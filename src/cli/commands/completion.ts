import type { CommandDef } from "citty";
import { command } from "../command.ts";
import { SHELLS, type Shell } from "../completion/scripts.ts";
import { describeCommand } from "../completion/describe.ts";
import { repositoryRoot } from "../../config.ts";
import { ownBuild } from "../place.ts";
import { asJson } from "../plainly.ts";

/** `parley completion bash|zsh|fish`: a script for the shell, made of all commands as they are. */
export const completionOf = (parley: CommandDef) =>
  command({
    meta: { name: "completion", description: "Print a script for command completion in your shell" },
    args: {
      shell: {
        type: "positional",
        description: Object.keys(SHELLS).join(", "),
        valueHint: Object.keys(SHELLS).join("|"),
        required: true,
      },
    },
    async run({ args }) {
      const { shell } = args;
      if (!Object.hasOwn(SHELLS, shell))
        throw new Error(
          `There is no completion for “${shell}”. Available: ${Object.keys(SHELLS).join(", ")}.`,
        );
      const script = SHELLS[shell as Shell](await describeCommand(parley), ownBuild ?? repositoryRoot());
      if (!asJson) process.stdout.write(script);
      return { shell, script };
    },
  });
