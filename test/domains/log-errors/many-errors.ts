/** Errors of which none is like another, and a fault that begins among them. */

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
/** Of the names below, so that all are as long. */
const NAME_LETTERS = 5;

/** One of every so many is of the fault. */
export const FAULT_EVERY = 200;

/** A name of letters alone, which no form takes for a number. */
function nameOf(n: number): string {
  let name = "";
  for (let left = n; name.length < NAME_LETTERS; left = Math.floor(left / LETTERS.length))
    name += LETTERS.charAt(left % LETTERS.length);
  return name;
}

/** The n-th of as many: by turns one with a stack and one with a message alone. From the middle on some are of one fault. */
export function unlikeError(n: number, of: number): object {
  if (isOfFault(n, of))
    return errorOf("CardError", `CardError: card ${n} declined\n    at charge (/app/src/pay.js:${n}:7)`);
  const name = nameOf(n);
  if (n % 2 === 0) return { level: "error", service: "checkout", message: `${name} was lost on its way` };
  return errorOf(
    "Lost",
    `Lost: ${name}\n    at ${name} (/app/src/${name}.js:41:13)\n    at main (/app/src/${name}.js:7:1)`,
  );
}

export function isOfFault(n: number, of: number): boolean {
  return n >= of / 2 && n % FAULT_EVERY === 0;
}

function errorOf(type: string, stack: string): object {
  return {
    ...{ level: "error", service: "checkout", message: "request failed" },
    attrs: { "exception.type": type, "exception.stacktrace": stack },
  };
}
