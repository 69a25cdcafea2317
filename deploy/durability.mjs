// Tells the libSQL server to keep what it acknowledges. A server may forget that at each start, so it is told again and again;
// with `once` it is told once, and the exit code says whether it took it.
const { SQLD_ADMIN_URL = "http://sqld:9090" } = process.env;
const EVERY_MS = 5_000;
const wanted = { block_reads: false, block_writes: false, durability_mode: "strong", txn_timeout_s: 5 };

let last = "";

async function tell() {
  const said = await fetch(`${SQLD_ADMIN_URL}/v1/namespaces/default/config`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(wanted),
    signal: AbortSignal.timeout(EVERY_MS),
  }).then(
    ({ ok, status }) => (ok ? "durability_mode is strong" : `the server answers ${status}`),
    (error) => `the server does not answer: ${error.cause?.code ?? error.message}`,
  );
  if (said !== last) console.log(said);
  last = said;
  return said.endsWith("strong");
}

if (process.argv.includes("once")) process.exit((await tell()) ? 0 : 1);
process.on("SIGTERM", () => process.exit(0));
for (;;) {
  await tell();
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
}
