import { CliError, EXIT } from "../cli-error.ts";

const ENTER = ["\r", "\n"];
const BACKSPACE = ["\u007f", "\b"];
const INTERRUPT = "\u0003";
const END_OF_INPUT = "\u0004";
const ANSWER_MAX_CHARS = 1024;

/** Asks on the terminal and reads a line; what is typed is shown unless it is `hidden`. */
export async function ask(question: string, hidden: boolean): Promise<string> {
  const { stdin, stderr } = process;
  // Before the question: nobody who answers at once shall see a password echoed by the terminal.
  stdin.setRawMode(true);
  stderr.write(question);
  stdin.setEncoding("utf8");
  const typed = new TypedLine(hidden ? () => undefined : (text) => stderr.write(text));
  const answered = Promise.withResolvers<string>();
  const onData = (chunk: string | Buffer): void => {
    const keys = [...String(chunk)];
    try {
      const end = typed.add(keys);
      if (end === null) return;
      // What was typed or pasted behind this answer belongs to the next question.
      stdin.off("data", onData);
      stdin.pause();
      const rest = keys.slice(end).join("");
      if (rest !== "") stdin.unshift(rest);
      answered.resolve(typed.text);
    } catch (error) {
      answered.reject(error);
    }
  };
  const onEnd = (): void => answered.reject(new CliError("the input ended before the answer"));
  // Not the stream's iterator: a second one over the terminal never gets a byte.
  stdin.on("data", onData).on("end", onEnd).resume();
  try {
    return await answered.promise;
  } finally {
    stdin.off("data", onData).off("end", onEnd).pause();
    stdin.setRawMode(false);
    stderr.write("\n");
  }
}

/** A line as it grows key by key. */
class TypedLine {
  readonly #echo: (text: string) => void;
  #characters: string[] = [];

  constructor(echo: (text: string) => void) {
    this.#echo = echo;
  }

  get text(): string {
    return this.#characters.join("");
  }

  /** How many of the keys belong to the line once it is ended; null before. Throws for an interrupt. */
  add(keys: readonly string[]): number | null {
    for (const [index, key] of keys.entries()) {
      if (ENTER.includes(key)) return index + 1;
      if (key === INTERRUPT || key === END_OF_INPUT)
        throw new CliError("interrupted", { exitCode: EXIT.interrupted });
      if (BACKSPACE.includes(key)) {
        if (this.#characters.pop() !== undefined) this.#echo("\b \b");
      } else if (key >= " " && this.#characters.length < ANSWER_MAX_CHARS) {
        this.#characters.push(key);
        this.#echo(key);
      }
    }
    return null;
  }
}
