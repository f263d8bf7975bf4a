import type { Reading } from "./reading.ts";

const INDENTED = /^[ \t]+\S/;
/** Lines that nothing but stacks have, of Java, .NET, Node, Python, Ruby and Go. */
const FRAME =
  /^(?:\s+(?:at |from \S+:\d|File ")|Caused by: |Suppressed: |\s*\.{3} \d+ (?:more|common frames)|Traceback \(most recent call last\):|During handling of the above exception|The above exception was the direct cause|\s*--- End of |goroutine \d+ \[)/;
const EXCEPTION =
  /^(?:[A-Za-z_$][\w$]*[.:]{1,2})*[A-Za-z_$][\w$]*(?:Error|Exception|Exit|Interrupt|Throwable|Failure|Warning)(?:$|[:\s(])/;
/** The last line of a Python traceback names any class. */
const RAISED = /^[A-Za-z_][\w.]*(?:: |$)/;
const PYTHON_START = /^Traceback \(most recent call last\):/;
const GO_START = /^(?:panic: |fatal error: |goroutine \d+ \[)/;
const CLOSING = /^[}\])]+[;,]?$/;

/** Tells which lines go on where the one above stopped. Follows the lines of one message. */
export class Continuation {
  #block: "python" | "go" | null = null;
  #isIndented = false;

  /** Begins another message with its first line. */
  begin(text: string): void {
    this.#block = PYTHON_START.test(text) ? "python" : GO_START.test(text) ? "go" : null;
    this.#isIndented = false;
  }

  /**
   * Whether a line in which nothing was recognised belongs to the message that `head` began. `runsTimed` says that heads
   * with times came one after the other, so that a line without one is none.
   */
  continues(text: string, head: Reading, runsTimed: boolean): boolean {
    if (text.trim() === "") return false;
    const goesOn = this.#goesOn(text, head) || (runsTimed && head.isTimed);
    if (!goesOn) return false;
    if (PYTHON_START.test(text)) this.#block = "python";
    else if (GO_START.test(text)) this.#block = "go";
    this.#isIndented = INDENTED.test(text);
    return true;
  }

  #goesOn(text: string, head: Reading): boolean {
    // A traceback that nothing was logged in front of stands by itself.
    if (FRAME.test(text)) return head.isHead || this.#block !== null || !PYTHON_START.test(text);
    if (this.#block === "go") return true;
    if (INDENTED.test(text)) return (head.isText && head.isHead) || this.#block !== null;
    if (this.#block === "python") {
      if (!RAISED.test(text)) return false;
      this.#block = null;
      return true;
    }
    if (this.#isIndented && CLOSING.test(text)) return true;
    return head.isText && head.isHead && EXCEPTION.test(text);
  }
}
