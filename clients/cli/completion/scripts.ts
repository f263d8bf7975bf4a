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
  const bash = bashScript(commands);
  // zsh runs completions of bash as they are.
  return shell === "bash" ? bash : `#compdef obs\nautoload -U +X bashcompinit && bashcompinit\n${bash}`;
}

function bashScript(commands: readonly CompletedCommand[]): string {
  const cases = commands.map(({ path, words, options, takesFiles }) => {
    const names = [...words, ...options.map(({ name }) => name)].join(" ");
    return `    "${path.join(" ")}") words="${names}"; files=${takesFiles ? 1 : 0} ;;`;
  });
  const values = commands.flatMap(({ path, options }) =>
    options.flatMap(({ name, choices }) =>
      choices.length === 0 ? [] : [`    "${path.join(" ")} ${name}") words="${choices.join(" ")}" ;;`],
    ),
  );
  const nested = commands.flatMap(({ path }) => (path.length === 2 ? [path[0]] : []));
  return `_obs() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path="" words="" files=0 i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      -*) ;;
      *) if [ -z "$path" ]; then path="\${COMP_WORDS[i]}"
         else case " ${[...new Set(nested)].join(" ")} " in *" $path "*) path="$path \${COMP_WORDS[i]}"; break ;; esac
         fi ;;
    esac
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
complete -o filenames -F _obs obs
`;
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap(({ path, words, options, takesFiles }) => {
    const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ");
    const when = path.length === 0 ? "__fish_use_subcommand" : seen;
    return [
      ...(words.length > 0 ? [`complete -c obs -f -n '${when}' -a '${words.join(" ")}'`] : []),
      ...(takesFiles ? [`complete -c obs -F -n '${when}'`] : []),
      ...options.map(({ name, choices }) => {
        const values = choices.length > 0 ? ` -x -a '${choices.join(" ")}'` : "";
        return `complete -c obs -n '${when}' -l ${name.slice(2)}${values}`;
      }),
    ];
  });
  return `${lines.join("\n")}\n`;
}
