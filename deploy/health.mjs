// Whether the gateway of this container is ready; the exit code says so.
const { PORT = "3000" } = process.env;
const answer = await fetch(`http://127.0.0.1:${PORT}/health/ready`, {
  signal: AbortSignal.timeout(4_000),
}).catch(() => null);
process.exit(answer?.ok ? 0 : 1);
