import type { Span } from "../span.ts";
import type { DiagnosticCode, Problem } from "./diagnostic.ts";
import { EXPRESSION_MAX_DEPTH, NESTING_MAX_DEPTH, PROBLEMS_MAX_COUNT, TREE_MAX_NODES } from "./limits.ts";
import type { Token } from "./token.ts";
import type { Expression } from "./tree.ts";

/** Leaves the operator or statement that is being read; the parser goes on behind it. */
export class SyntaxFailure extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

const CLOSERS: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** The tokens of a text and how far they are read; also keeps the limits of the tree and collects the problems. */
export class Cursor {
  readonly problems: Problem[] = [];
  private readonly tokens: readonly Token[];
  /** For every token the bracket around it, -1 outside of all; an opening bracket and its partner stand outside. */
  private readonly enclosing: readonly number[];
  /** For every opening bracket its partner, -1 when there is none. */
  private readonly partners: readonly number[];
  /** The opening brackets that have a partner. */
  private readonly closed: ReadonlySet<Token>;
  private readonly heights = new WeakMap<Expression, number>();
  private position = 0;
  private isFinished = false;
  private depth = 0;
  private nodes = 0;

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
    ({ enclosing: this.enclosing, partners: this.partners } = matchBrackets(tokens));
    this.closed = new Set(tokens.filter((_, index) => this.partners[index] !== -1));
  }

  get index(): number {
    return this.position;
  }

  /** Back to a token that was read before. */
  rewind(index: number): void {
    this.position = index;
  }

  /** The next token, or one further on; beyond the end it is the end. */
  peek(ahead = 0): Token {
    return this.tokenAt(this.position + ahead);
  }

  tokenAt(index: number): Token {
    const token = this.tokens[Math.min(index, this.tokens.length - 1)];
    if (token === undefined) throw new Error("a text has at least the token of its end");
    return token;
  }

  next(): Token {
    const token = this.peek();
    if (token.problem !== null) throw this.failure(token.problem, token.span);
    if (this.position < this.tokens.length - 1) this.position++;
    return token;
  }

  isAtEnd(): boolean {
    return this.peek().kind === "end";
  }

  /** True when the next token is this word or symbol. */
  at(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token.text === text && (token.kind === "name" || token.kind === "symbol");
  }

  accept(text: string): Token | null {
    return this.at(text) ? this.next() : null;
  }

  expect(text: string, where: string): Token {
    if (this.at(text)) return this.next();
    throw this.unexpected(`${show(text)} ${where}`);
  }

  /** The partner of an opening bracket that was read. */
  close(opening: Token, expected: string): void {
    const closer = CLOSERS[opening.text] ?? "";
    if (this.at(closer)) {
      this.next();
      return;
    }
    if (!this.closed.has(opening)) throw this.failure(`This ${opening.text} is not closed.`, opening.span);
    throw this.unexpected(expected);
  }

  /** The index of the token behind the partner of the opening bracket that comes `ahead`; null when there is none. */
  behindBracket(ahead = 0): number | null {
    const partner = this.partners[this.position + ahead] ?? -1;
    return partner === -1 ? null : partner + 1;
  }

  /** From the start of a token that was read to the end of the last one read. */
  spanFrom(index: number): Span {
    const start = this.tokenAt(index).span.start;
    const last = this.position > index ? this.tokenAt(this.position - 1) : this.tokenAt(index);
    return { start, end: Math.max(start, last.span.end) };
  }

  /** True when nothing stands between a token and the one in front of it. */
  isAdjacent(ahead: number): boolean {
    return this.peek(ahead).span.start === this.peek(ahead - 1).span.end;
  }

  /** A node is made: counts it, and its levels by those of its parts. */
  made<Node extends Expression>(node: Node, ...parts: readonly (Expression | null)[]): Node {
    let height = 1;
    for (const part of parts) if (part !== null) height = Math.max(height, (this.heights.get(part) ?? 1) + 1);
    this.heights.set(node, height);
    if (++this.nodes > TREE_MAX_NODES)
      throw this.exhausted(`The query has more than ${TREE_MAX_NODES} parts.`, node.span);
    if (height > EXPRESSION_MAX_DEPTH)
      throw this.exhausted(`The expression has more than ${EXPRESSION_MAX_DEPTH} levels.`, node.span);
    return node;
  }

  /** Reads something that may hold more of its kind. */
  nested<Result>(read: () => Result): Result {
    if (++this.depth > NESTING_MAX_DEPTH)
      throw this.exhausted(`Brackets are nested deeper than ${NESTING_MAX_DEPTH}.`, this.peek().span);
    try {
      return read();
    } finally {
      this.depth--;
    }
  }

  /** What to throw where something else was needed. */
  unexpected(expected: string): SyntaxFailure {
    const token = this.peek();
    if (token.problem !== null) return this.failure(token.problem, token.span);
    const hint = expected === "a value" ? (valueHintFor(token) ?? hintFor(token)) : hintFor(token);
    const found = token.kind === "end" ? "The query ends here" : `Found ${show(token.text)}`;
    const message = `${found}, expected ${expected}.${hint === undefined ? "" : ` ${hint.advice}`}`;
    return this.failure(message, token.span, hint?.instead ?? null);
  }

  failure(
    message: string,
    span: Span,
    suggestion: string | null = null,
    code: DiagnosticCode = "SYNTAX",
  ): SyntaxFailure {
    return new SyntaxFailure({ code, message, span, suggestion });
  }

  exhausted(message: string, span: Span): SyntaxFailure {
    return this.failure(message, span, null, "TOO_COMPLEX");
  }

  /** Keeps a problem; after the last one that is told, nothing more is read. */
  report(problem: Problem): void {
    if (this.isFinished) return;
    this.problems.push(problem);
    this.isFinished = problem.code === "TOO_COMPLEX" || this.problems.length >= PROBLEMS_MAX_COUNT;
  }

  /**
   * Reads; on a failure keeps its problem, goes on to the next `|` or `;` or closing bracket on the level where the
   * reading began, and answers null.
   */
  recovering<Result>(read: () => Result): Result | null {
    const level = this.enclosing[this.position] ?? -1;
    try {
      return read();
    } catch (error) {
      if (!(error instanceof SyntaxFailure)) throw error;
      this.report(error.problem);
      if (this.isFinished) this.position = this.tokens.length - 1;
      this.skip(level);
      return null;
    }
  }

  /** To the next `|`, `;` or closing bracket on the level of the next token. */
  skipOperator(): void {
    this.skip(this.enclosing[this.position] ?? -1);
  }

  private skip(level: number): void {
    const end = level === -1 ? this.tokens.length - 1 : (this.partners[level] ?? -1);
    const last = end === -1 ? this.tokens.length - 1 : end;
    for (; this.position < last; this.position++) {
      if (this.enclosing[this.position] === level && (this.at("|") || this.at(";"))) return;
    }
  }
}

/** What people write who come from other languages. */
const HINTS: ReadonlyMap<string, { readonly advice: string; readonly instead: string }> = new Map(
  Object.entries({
    "=": { advice: "To compare, write ==.", instead: "==" },
    "&&": { advice: "Write and.", instead: "and" },
    "||": { advice: "Write or.", instead: "or" },
    "!": { advice: "Write not(...).", instead: "not" },
    is: { advice: "Write isnull(...) or isnotnull(...).", instead: "isnull" },
  }),
);

const LOWER_CASE_WORDS: ReadonlySet<string> = new Set(
  "and or in by on has contains startswith endswith between matches asc desc with as of".split(" "),
);

function hintFor({ kind, text }: Token): { readonly advice: string; readonly instead: string } | undefined {
  if (kind !== "name" && kind !== "symbol") return undefined;
  const lower = text.toLowerCase();
  if (lower !== text && LOWER_CASE_WORDS.has(lower))
    return { advice: `Keywords are lower case: ${lower}.`, instead: lower };
  return HINTS.get(text);
}

/** What to say of what stands where a value belongs. */
const VALUE_HINTS: ReadonlyMap<string, string> = new Map([
  ["/", 'A pattern stands in quotes: message matches regex "pattern".'],
  ["by", "An aggregate such as count() belongs in front of by, without a comma behind it."],
  ["or", "or stands between two conditions."],
  ["and", "and stands between two conditions."],
  ["=", "A name stands in front of =, as in x = 5; to compare, write ==."],
  ["-", "A comment begins with //."],
  [",", "A value is missing in front of the comma."],
  ["[", 'Several values stand in round brackets behind has_any or in: message has_any ("a", "b").'],
  ...["has", "contains", "startswith", "endswith"].map((word): [string, string] => [
    word,
    `A column stands in front of ${word}: message ${word} "text".`,
  ]),
]);

function valueHintFor({
  kind,
  text,
}: Token): { readonly advice: string; readonly instead: null } | undefined {
  const advice = kind === "name" || kind === "symbol" ? VALUE_HINTS.get(text) : undefined;
  return advice === undefined ? undefined : { advice, instead: null };
}

/** How a piece of text is shown in a message; long ones are cut. */
export function show(text: string): string {
  return text.length > 40 ? `\`${text.slice(0, 40)}...\`` : `\`${text}\``;
}

/** A bracket that is closed too late belongs to none: `([1, 2)` pairs the round ones. */
function matchBrackets(tokens: readonly Token[]): { enclosing: number[]; partners: number[] } {
  const enclosing: number[] = [];
  const partners: number[] = tokens.map(() => -1);
  const open: { readonly index: number; readonly closer: string }[] = [];
  const waiting = new Map<string, number>();
  const wait = (closer: string, more: number) => waiting.set(closer, (waiting.get(closer) ?? 0) + more);
  for (const [index, { kind, text }] of tokens.entries()) {
    const closes = kind === "symbol" && (waiting.get(text) ?? 0) > 0;
    for (let last = closes ? open.pop() : undefined; last !== undefined; last = open.pop()) {
      wait(last.closer, -1);
      if (last.closer !== text) continue;
      partners[last.index] = index;
      break;
    }
    enclosing.push(open.at(-1)?.index ?? -1);
    const closer = kind === "symbol" ? CLOSERS[text] : undefined;
    if (closer === undefined) continue;
    open.push({ index, closer });
    wait(closer, 1);
  }
  return { enclosing, partners };
}
