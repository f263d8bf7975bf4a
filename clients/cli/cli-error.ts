/** What the process answers with. 130 and 143 are the shell's numbers for an interrupt and a termination. */
export const EXIT = { ok: 0, failure: 1, usage: 2, interrupted: 130, terminated: 143 } as const;

/** A failure the user is told about in one line. Anything else that is thrown is a fault of this program. */
export class CliError extends Error {
  readonly exitCode: number;

  constructor(message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "CliError";
    this.exitCode = options.exitCode ?? EXIT.failure;
  }
}

/** One of several files cannot be shipped; the others can. */
export class FileProblem extends CliError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = "FileProblem";
  }
}

/** The command was given something it cannot mean. */
export class UsageError extends CliError {
  constructor(message: string) {
    super(message, { exitCode: EXIT.usage });
    this.name = "UsageError";
  }
}
