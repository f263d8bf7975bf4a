import { CliError, EXIT } from "../cli-error.ts";

const ENTER = ["\r", "\n"];
const BACKSPACE = ["\u007f", "\b"];
const INTERRUPT = "\u0003";
const END_OF_INPUT = "\u0004";
const ANSWER_MAX_CHARS = 1024;

/** Asks on the terminal and reads a line; what is typed is shown unless it is `hidden`. */
export async function ask(question: string, hidden: boolean): Promise<string> {
  const { stdin, stderr } = process;
  stderr.write(question);
  stdin.setRawMode(true);
  stdin.setEncoding("utf8");
  stdin.resume();
  let answer = "";
  try {
    for await (const chunk of stdin.iterator({ destroyOnReturn: false })) {
      for (const key of String(chunk)) {
        if (ENTER.includes(key)) return answer;
        if (key === INTERRUPT || key === END_OF_INPUT)
          throw new CliError("interrupted", { exitCode: EXIT.interrupted });
        const erased = BACKSPACE.includes(key);
        if (erased && answer !== "" && !hidden) stderr.write("\b \b");
        if (erased) answer = [...answer].slice(0, -1).join("");
        else if (key >= " " && answer.length < ANSWER_MAX_CHARS) {
          answer += key;
          if (!hidden) stderr.write(key);
        }
      }
    }
    throw new CliError("the input ended before the answer");
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write("\n");
  }
}
