/**
 * `weir completion`: a script that lets a shell complete nouns, verbs, flags, and the values of flags that take one of a few words.
 *
 * It holds the words of this version, so generate it again after an upgrade. zsh runs bash's script.
 */
import { dirname } from "node:path";
import { UsageError } from "./value.ts";
import { nameOf, type LocalAnswer, type LocalVerb, type Verb } from "./verb.ts";

const root = dirname(dirname(import.meta.dir));
const commonFlags = ["--as", "--json", "--help"];

/** @param verbs the verbs to complete */
export function completionVerb(verbs: readonly Verb[]): LocalVerb {
  const shells: Record<string, () => string> = {
    bash: () => bashScript(verbs),
    // zsh runs bash's completions.
    zsh: () => `autoload -U +X compinit bashcompinit && compinit -u && bashcompinit\n${bashScript(verbs)}`,
    fish: () => fishScript(verbs),
  };
  return {
    noun: "completion",
    verb: "",
    summary: "Print the script that makes a shell complete the command `weir`",
    operand: { field: "shell", placeholder: "bash|zsh|fish", help: "the shell" },
    flags: [],
    example: 'bash > ~/.weir-completion && echo ". ~/.weir-completion" >> ~/.bashrc',
    async local({ shell }): Promise<LocalAnswer> {
      const write = Object.hasOwn(shells, String(shell)) ? shells[String(shell)] : undefined;
      if (write === undefined) throw new UsageError(`"${String(shell)}" is not one of bash, zsh, fish`);
      const text = write();
      return { body: { shell, script: text }, text, errors: [] };
    },
  };
}

/**
 * What may follow the words typed so far, by those words: "" for nouns, "key" for verbs, "key create" for flags, "key create --kind" for
 * values.
 */
function followersOf(verbs: readonly Verb[]): Map<string, string[]> {
  const followers = new Map<string, string[]>([["", ["--help", "--version"]]]);
  const add = (after: string, words: readonly string[]) =>
    followers.set(after, [...new Set([...(followers.get(after) ?? []), ...words])]);
  for (const one of verbs) {
    const { noun, verb, flags, operand, confirm } = one;
    const name = nameOf(one);
    add("", [noun]);
    if (verb !== "") add(noun, [verb]);
    add(name, choicesOf(operand?.placeholder));
    add(name, [...flags.map((flag) => `--${flag.name}`), ...(confirm === undefined ? [] : ["--yes"]), ...commonFlags]);
    for (const flag of flags) add(`${name} --${flag.name}`, choicesOf(flag.value.placeholder));
  }
  return followers;
}

/** The words of a placeholder such as `on|off`; none for `TEXT`. */
function choicesOf(placeholder = ""): string[] {
  return placeholder.split("|").filter((word) => /^[a-z_-]+$/.test(word));
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function bashScript(verbs: readonly Verb[]): string {
  const cases = [...followersOf(verbs)].map(([after, words]) => `    ${quoted(after)}) words=${quoted(words.join(" "))} ;;`);
  return `weir() { npm --prefix ${quoted(root)} run -s weir -- "$@"; }
_weir_words() {
  local words=
  case "$1" in
${cases.join("\n")}
  esac
  printf '%s' "$words"
}
_weir() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} name= word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) break ;; esac
    [ -n "$(_weir_words "\${name:+$name }$word")" ] || break
    name="\${name:+$name }$word"
  done
  words=$(_weir_words "$name")
  case "$before" in --*)
    local values
    values=$(_weir_words "$name $before")
    [ -z "$values" ] || words=$values ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _weir weir`;
}

function fishScript(verbs: readonly Verb[]): string {
  const lines = verbs.flatMap(({ noun, verb, summary, flags, operand }) => {
    const isNamed = `__fish_seen_subcommand_from ${noun}${verb === "" ? "" : `; and __fish_seen_subcommand_from ${verb}`}`;
    const complete = (condition: string, rest: string) => `complete -c weir -n ${quoted(condition)} ${rest}`;
    return [
      complete("__fish_use_subcommand", `-f -a ${noun}`),
      ...(verb === "" ? [] : [complete(`__fish_seen_subcommand_from ${noun}`, `-f -a ${verb} -d ${quoted(summary)}`)]),
      ...choicesOf(operand?.placeholder).map((word) => complete(isNamed, `-f -a ${word}`)),
      ...flags.map(({ name, help, value }) => {
        const choices = choicesOf(value.placeholder);
        const taking = value.placeholder === "" ? "" : ` -r${choices.length > 0 ? ` -f -a ${quoted(choices.join(" "))}` : ""}`;
        return complete(isNamed, `-l ${name}${taking} -d ${quoted(help)}`);
      }),
    ];
  });
  return [`function weir; npm --prefix ${quoted(root)} run -s weir -- $argv; end`, ...new Set(lines)].join("\n");
}
