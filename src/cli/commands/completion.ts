import { Argument } from 'commander';
import type { AddCommand } from '../command.ts';
import { examples } from '../flags.ts';

const KUBECTL = `
kubectl completes "kubectl evenkeel" when this file is on the PATH as kubectl_complete-evenkeel and may be executed:
  #!/bin/sh
  exec evenkeel __complete "$@"`;

/** `evenkeel completion`, and the hidden command that its scripts ask. */
export const addCompletion: AddCommand = (program, { print }) => {
  program
    .command('completion')
    .description('print the script that completes commands, flags, their values and names in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText(
      'after',
      examples(
        'source <(evenkeel completion bash)',
        'source <(evenkeel completion zsh)',
        'evenkeel completion fish | source',
      ),
    )
    .addHelpText('after', KUBECTL)
    .action((shell: Shell) => print({ stdout: COMPLETION_SCRIPTS[shell], exitCode: 0 }));
  program
    .command('__complete', { hidden: true })
    .description('print what may stand at the end of these words')
    .argument('[words...]', 'words of a command line, the last of them begun or empty')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (words: readonly string[]) => {
      const { complete, formatCompletion } = await import('../complete.ts');
      const { namesOnCluster } = await import('../cluster-names.ts');
      print({ stdout: formatCompletion(await complete(program, words, namesOnCluster)), exitCode: 0 });
    });
};

/** Shells that there is completion for. */
const SHELLS = ['bash', 'zsh', 'fish'] as const;
/** A shell that there is completion for. */
type Shell = (typeof SHELLS)[number];

/** COMP_WORDS has `--output=json` as three words; what is completed is the last of them alone. Works from bash 3.2 on. */
const BASH = `# bash completion of evenkeel. To use it: source <(evenkeel completion bash)
_evenkeel() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" line directive=4 prefix="" i
  local -a words=()
  for ((i = 1; i <= COMP_CWORD; i++)); do
    if [[ "\${COMP_WORDS[i]}" == "=" && \${#words[@]} -gt 0 ]]; then
      words[\${#words[@]}-1]+="="
    elif [[ \${#words[@]} -gt 0 && "\${words[\${#words[@]}-1]}" == --*= ]]; then
      words[\${#words[@]}-1]+="\${COMP_WORDS[i]}"
    else
      words+=("\${COMP_WORDS[i]}")
    fi
  done
  local last="\${words[\${#words[@]}-1]}"
  [[ "$last" == --*=* ]] && prefix="\${last%%=*}="
  [[ "$cur" == "=" ]] && cur=""
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :*) directive="\${line#:}" ;;
      *) line="\${line%%$'\\t'*}"; COMPREPLY+=("\${line#"$prefix"}") ;;
    esac
  done < <("\${COMP_WORDS[0]}" __complete "\${words[@]}" 2>/dev/null)
  if (( (directive & 2) != 0 )); then
    compopt -o nospace 2>/dev/null
  fi
  if (( (directive & 4) == 0 )); then
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do
      COMPREPLY+=("$line")
    done < <(compgen -f -- "$cur")
  fi
}
complete -F _evenkeel evenkeel kubectl-evenkeel
`;

const ZSH = `#compdef evenkeel kubectl-evenkeel
# zsh completion of evenkeel. To use it: source <(evenkeel completion zsh), or write it to a file _evenkeel of $fpath
_evenkeel() {
  local line word meaning directive=4
  local -a described plain
  while IFS= read -r line; do
    case "$line" in
      :*) directive="\${line#:}" ;;
      *$'\\t'*)
        word="\${line%%$'\\t'*}"
        meaning="\${line#*$'\\t'}"
        described+=("\${word//:/\\\\:}:$meaning")
        ;;
      *) plain+=("$line") ;;
    esac
  done < <("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  local -a space=()
  (( (directive & 2) != 0 )) && space=(-S '')
  (( \${#described} > 0 )) && _describe -t evenkeel evenkeel described "\${space[@]}"
  (( \${#plain} > 0 )) && compadd "\${space[@]}" -- $plain
  (( (directive & 4) == 0 )) && _files
  return 0
}
if [ "\${funcstack[1]}" = "_evenkeel" ]; then
  _evenkeel "$@"
else
  compdef _evenkeel evenkeel kubectl-evenkeel
fi
`;

const FISH = `# fish completion of evenkeel. To use it: evenkeel completion fish | source
function __evenkeel_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    set -l directive (string replace -r '^:' '' -- $lines[-1])
    for line in $lines[1..-2]
        echo $line
    end
    if test (math "bitand($directive, 4)") -eq 0
        __fish_complete_path "$current"
    end
end
complete -c evenkeel -f -a '(__evenkeel_complete)'
complete -c kubectl-evenkeel -f -a '(__evenkeel_complete)'
`;

/** The script that teaches a shell to complete; it asks the program itself, so that it never goes out of date. */
const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
