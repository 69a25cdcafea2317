import { existsSync } from "node:fs";
import { join } from "node:path";
import { flat, type DescribedCommand, type Option } from "./describe.ts";

/** A text as one word of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
/** The same in fish, which knows no other way to write an apostrophe. */
const inFish = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", String.raw`\'`)}'`;

const long = ({ name }: Option): string => `--${name}`;
/** Every place where a command is called, for a pattern of `case`. */
const paths = (root: DescribedCommand): string =>
  flat(root)
    .filter(({ path }) => path !== "")
    .map(({ path }) => path)
    .join("|");

/** How the command is called where no such program is installed. @param root of the sources, or of a build */
const called = (root: string, inQuotes = quoted): string =>
  existsSync(join(root, "cli.mjs"))
    ? `node ${inQuotes(join(root, "cli.mjs"))}`
    : `npm --prefix ${inQuotes(root)} run --silent parley --`;

/** For shells whose functions look alike: what `parley` is where no such program is installed. */
const program = (root: string): string => `type parley >/dev/null 2>&1 || parley() { ${called(root)} "$@"; }`;

/** Choices behind an option with a value: a branch of `case`. */
const branchesOfValues = (
  root: DescribedCommand,
  files: string,
  words: (choices: string[]) => string,
): string[] =>
  flat(root).flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map((option) => {
        const what = option.isPath ? files : option.choices.length > 0 ? words(option.choices) : ":";
        return `    "${path} ${long(option)}") ${what}; return ;;`;
      }),
  );

const addInBash = (words: readonly string[]): string =>
  `COMPREPLY=($(compgen -W ${quoted(words.join(" "))} -- "$current"))`;

function bash(root: DescribedCommand, folder: string): string {
  const files = 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current"))';
  const branches = flat(root).map(({ path, options, words, commands }) => {
    const first = [...commands.map(({ name }) => name), ...words.flatMap(({ choices }) => choices)];
    const rest = words.some(({ isPath }) => isPath) ? files : addInBash(first);
    return `    ${quoted(path)}) if [[ $current == -* ]]; then ${addInBash([...options.map(long), "--help"])}; else ${rest}; fi ;;`;
  });
  return `# bash: source <(npm run --silent parley -- completion bash)
${program(folder)}
_parley() {
  local current=\${COMP_WORDS[COMP_CWORD]} at= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at/\${COMP_WORDS[i]}" in
    ${paths(root)}) at="$at/\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at \${COMP_WORDS[COMP_CWORD - 1]}" in
${branchesOfValues(root, files, addInBash).join("\n")}
  esac
  case "$at" in
${branches.join("\n")}
  esac
}
complete -F _parley parley
`;
}

/** A row of zsh's `_describe`. */
const described = (name: string, description: string): string =>
  quoted(`${name.replaceAll(":", String.raw`\:`)}:${description}`);
const addInZsh = (choices: readonly string[]): string => `compadd -- ${choices.map(quoted).join(" ")}`;

function zsh(root: DescribedCommand, folder: string): string {
  const branches = flat(root).map(({ path, options, words, commands }) => {
    const flags = options.map((option) => described(long(option), option.description));
    const choices = words.flatMap((word) => word.choices);
    const first = words.some(({ isPath }) => isPath)
      ? "_files"
      : choices.length > 0
        ? addInZsh(choices)
        : `found=(${commands.map((one) => described(one.name, one.description)).join(" ")}); _describe -t commands command found`;
    return `    ${quoted(path)}) if [[ $PREFIX == -* ]]; then found=(${[...flags, described("--help", "Show usage")].join(" ")}); _describe -t options option found; else ${first}; fi ;;`;
  });
  return `#compdef parley
# zsh: source <(npm run --silent parley -- completion zsh)
${program(folder)}
_parley() {
  local at= word; local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at/$word" in
    ${paths(root)}) at="$at/$word" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${branchesOfValues(root, "_files", addInZsh).join("\n")}
  esac
  case "$at" in
${branches.join("\n")}
  esac
}
compdef _parley parley
`;
}

function fish(root: DescribedCommand, folder: string): string {
  const rows = flat(root).flatMap(({ path, options, words, commands }) => {
    const here = `complete -c parley -n ${inFish(`test (__parley_at) = "${path}"`)}`;
    const choices = (values: readonly string[]): string =>
      values.length > 0 ? ` -a ${inFish(values.join(" "))}` : "";
    return [
      ...commands.map(({ name, description }) => `${here} -a ${name} -d ${inFish(description)}`),
      ...words.filter((word) => word.choices.length > 0).map((word) => `${here}${choices(word.choices)}`),
      ...words.filter(({ isPath }) => isPath).map(() => `${here} -F`),
      ...options.map(
        (option) =>
          `${here} -l ${option.name} -d ${inFish(option.description)}${option.takesValue ? `${option.isPath ? " -r -F" : " -x"}${choices(option.choices)}` : ""}`,
      ),
    ];
  });
  return `# fish: npm run --silent parley -- completion fish | source
type -q parley; or function parley; ${called(folder, inFish)} $argv; end
function __parley_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    switch "$at/$word"
      case ${paths(root).replaceAll("|", " ")}
        set at "$at/$word"
    end
  end
  echo $at
end
complete -c parley -f
${rows.join("\n")}
`;
}

/** What makes the script of each shell, of the commands and the folder of the repository. */
export const SHELLS = { bash, zsh, fish } satisfies Record<
  string,
  (root: DescribedCommand, folder: string) => string
>;
/** A shell that can complete. */
export type Shell = keyof typeof SHELLS;
