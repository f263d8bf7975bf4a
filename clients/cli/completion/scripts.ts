export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** What may stand behind a command. */
export interface CompletedCommand {
  /** The words that name it; none is the program itself. */
  readonly path: readonly string[];
  /** Commands below it, and what its argument may be. */
  readonly words: readonly string[];
  readonly options: readonly { readonly name: string; readonly choices: readonly string[] }[];
  readonly takesFiles: boolean;
}

/** A script that completes the commands, their options and their fixed values. The names are ours: words without blanks or quotes. */
export function completionScript(shell: Shell, commands: readonly CompletedCommand[]): string {
  if (shell === "fish") return fishScript(commands);
  const completing = bashFunction(commands);
  return shell === "bash" ? `${completing}complete -o filenames -F _obs obs\n` : zshScript(completing);
}

/** The names of all commands, each as its words with a blank between them. */
function namesOf(commands: readonly CompletedCommand[]): string[] {
  return commands.map(({ path }) => path.join(" ")).filter((name) => name !== "");
}

/** What stands before the cursor names a command as far as its words do; others are arguments and values of options. */
function bashFunction(commands: readonly CompletedCommand[]): string {
  const cases = commands.map(({ path, words, options, takesFiles }) => {
    const names = [...words, ...options.map(({ name }) => name)].join(" ");
    return `    "${path.join(" ")}") words="${names}"; files=${takesFiles ? 1 : 0} ;;`;
  });
  const values = commands.flatMap(({ path, options }) =>
    options.flatMap(({ name, choices }) =>
      choices.length === 0 ? [] : [`    "${path.join(" ")} ${name}") words="${choices.join(" ")}" ;;`],
    ),
  );
  return `_obs() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path="" words="" files=0 i
  local known="|${namesOf(commands).join("|")}|"
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$known" in *"|\${path:+$path }\${COMP_WORDS[i]}|"*) path="\${path:+$path }\${COMP_WORDS[i]}" ;; esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  case "$path $previous" in
${values.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ "$files" = 1 ]; then COMPREPLY+=($(compgen -f -- "$current")); fi
}
`;
}

/**
 * zsh runs completions of bash as they are; of what it takes for names of files it says no end, so that it is not told. The file is
 * read by the first completion, as the body of the function that it defines, and has to answer that one itself.
 */
function zshScript(completing: string): string {
  return `#compdef obs
autoload -U +X bashcompinit && bashcompinit
${completing}complete -F _obs obs
if [ "\${funcstack[1]}" = _obs ]; then _bash_complete -F _obs; fi
`;
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap(({ path, words, options, takesFiles }) => {
    const when = `test (__obs_command) = "${path.join(" ")}"`;
    return [
      ...(words.length > 0 ? [`complete -c obs -f -n '${when}' -a '${words.join(" ")}'`] : []),
      ...(takesFiles ? [`complete -c obs -F -n '${when}'`] : []),
      ...options.map(({ name, choices }) => {
        const values = choices.length > 0 ? ` -x -a '${choices.join(" ")}'` : "";
        return `complete -c obs -n '${when}' -l ${name.slice(2)}${values}`;
      }),
    ];
  });
  const known = namesOf(commands).map((name) => `'${name}'`);
  return `function __obs_command
  set -l known ${known.join(" ")}
  set -l command ''
  for word in (commandline -opc)[2..-1]
    set -l longer (string trim -- "$command $word")
    if contains -- "$longer" $known
      set command $longer
    end
  end
  echo $command
end
${lines.join("\n")}
`;
}
