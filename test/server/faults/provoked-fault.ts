/** Loaded into a server's process before the server: throws, or rejects, where nobody catches, when it is told to. */
process.on("SIGUSR2", () => {
  setTimeout(() => {
    throw new Error("provoked exception");
  });
});
process.on("SIGWINCH", () => {
  setTimeout(() => void Promise.reject(new Error("provoked rejection")));
});
