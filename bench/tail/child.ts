/** A process of the benchmark that is talked to in lines. */
interface LineProcess {
  /** The next line it writes. */
  line(): Promise<string>;
  send(text: string): void;
  end(): Promise<void>;
}

export function startLineProcess(command: readonly string[]): LineProcess {
  const child = Bun.spawn([...command], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  const reader = child.stdout.getReader();
  const decoder = new TextDecoder();
  let text = "";
  return {
    line: async () => {
      while (!text.includes("\n")) {
        const { done, value } = await reader.read();
        if (done) throw new Error("a process of the benchmark ended early");
        text += decoder.decode(value, { stream: true });
      }
      const end = text.indexOf("\n");
      const line = text.slice(0, end);
      text = text.slice(end + 1);
      return line;
    },
    send: (line) => {
      child.stdin.write(`${line}\n`);
      child.stdin.flush();
    },
    end: async () => {
      await child.stdin.end();
      await child.exited;
    },
  };
}
