interface ProgressBar {
  update(bytes: number, lines: number): void;
  stop(): void;
}

const MEBIBYTE = 1024 * 1024;
const NOTHING: ProgressBar = { update: () => undefined, stop: () => undefined };

/** A bar on standard error over `totalBytes`; nothing where that is no terminal. */
export async function startProgressBar(
  isTerminal: boolean,
  totalBytes: number,
  doneBytes: number,
): Promise<ProgressBar> {
  if (!isTerminal) return NOTHING;
  const { Presets, SingleBar } = await import("cli-progress");
  const bar = new SingleBar(
    {
      stream: process.stderr,
      format: "{bar} {percentage}% | {mib}/{totalMib} MiB | {lines} lines | {eta_formatted} left",
      hideCursor: true,
      clearOnComplete: true,
      stopOnComplete: false,
    },
    Presets.shades_classic,
  );
  const payload = (bytes: number, lines: number): object => ({
    mib: (bytes / MEBIBYTE).toFixed(1),
    totalMib: (totalBytes / MEBIBYTE).toFixed(1),
    lines,
  });
  bar.start(totalBytes, doneBytes, payload(doneBytes, 0));
  return {
    update: (bytes, lines) => bar.update(bytes, payload(bytes, lines)),
    stop: () => bar.stop(),
  };
}
