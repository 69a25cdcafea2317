/**
 * The yardstick, as a process of its own so that an attack cannot make it late: asks `GET /health/live` every 20 ms, lets
 * another account send without a pause, and looks at the memory of the gateway and its children. Starts when it is
 * told whom to watch, says what it saw when it is told to stop, and so on.
 */
import { readdirSync, readFileSync } from "node:fs";
import { Agent, request } from "node:http";

/** Whom to watch. */
export interface Watched {
  url: string;
  pid: number;
  /** Of the account that goes on sending. */
  key: string;
  sender: string;
  to: string;
}

/** What was seen. */
export interface Seen {
  /** Longest time that `GET /health/live` took, in milliseconds. */
  longestMs: number;
  /** CPU that the gateway used while that answer was awaited, in milliseconds: a loop that stands still computes. */
  longestCpuMs: number;
  answers: number;
  /** Longest time until WhatsApp had acknowledged a send, in milliseconds. */
  longestSendMs: number;
  sends: number;
  /** What went wrong with a send or an answer, at most three. */
  problems: string[];
  /** Resident memory of the gateway with all its children, in MB: at the beginning, and at most. */
  idleMb: number;
  peakMb: number;
}

const ASK_EVERY_MS = 20;
const LOOK_EVERY_MS = 50;
const SEND_EVERY_MS = 200;
const LEAST_WATCHED_MS = 100;
const GIVE_UP_MS = 120_000;

/** Starts to watch, or ends it, by turns. */
let stop: (() => Promise<Seen>) | null = null;
process.on("message", async (watched) => {
  if (stop === null) {
    stop = watch(watched as Watched);
    process.send!("watching");
    return;
  }
  const seen = await stop();
  stop = null;
  process.send!(seen);
});

function watch({ url, pid, key, sender, to }: Watched): () => Promise<Seen> {
  const agent = new Agent({ keepAlive: true });
  const idleMb = memoryMb(pid);
  const seen: Seen = {
    longestMs: 0,
    longestCpuMs: 0,
    answers: 0,
    longestSendMs: 0,
    sends: 0,
    problems: [],
    idleMb,
    peakMb: idleMb,
  };
  const underWay = new Set<Promise<void>>();
  const stopping = new AbortController();
  const problem = (text: string): void => void (seen.problems.length < 3 && seen.problems.push(text));

  async function ask(): Promise<void> {
    const at = performance.now();
    const cpu = cpuMs(pid);
    const { status } = await exchange(agent, `${url}/health/live`);
    const tookMs = performance.now() - at;
    if (status !== 200) problem(`GET /health/live answered ${status}`);
    seen.answers++;
    if (tookMs > seen.longestMs) seen.longestMs = tookMs;
    seen.longestCpuMs = Math.max(seen.longestCpuMs, Math.min(tookMs, cpuMs(pid) - cpu));
  }

  async function send(): Promise<void> {
    while (!stopping.signal.aborted) {
      const at = performance.now();
      const body = JSON.stringify({ api_key: key, sender, number: to, message: "still here" });
      const { status, text } = await exchange(agent, `${url}/send-message`, body);
      if (status !== 200) problem(`another account's send answered ${status} ${text.slice(0, 200)}`);
      seen.sends++;
      seen.longestSendMs = Math.max(seen.longestSendMs, performance.now() - at);
      await new Promise((resolve) => setTimeout(resolve, SEND_EVERY_MS));
    }
  }

  const follow = (work: Promise<void>): void => {
    const followed = work.catch((error: unknown) => problem(String(error)));
    underWay.add(followed);
    void followed.then(() => underWay.delete(followed));
  };
  follow(send());
  const asking = setInterval(() => follow(ask()), ASK_EVERY_MS);
  const looking = setInterval(() => (seen.peakMb = Math.max(seen.peakMb, memoryMb(pid))), LOOK_EVERY_MS);
  return async () => {
    // What is over in no time is looked at for a moment longer: nothing may come of it later.
    await new Promise((resolve) => setTimeout(resolve, LEAST_WATCHED_MS));
    stopping.abort();
    clearInterval(asking);
    await Promise.all(underWay);
    clearInterval(looking);
    agent.destroy();
    return seen;
  };
}

function exchange(agent: Agent, url: string, body?: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        agent,
        method: body === undefined ? "GET" : "POST",
        headers: body === undefined ? {} : { "content-type": "application/json" },
        timeout: GIVE_UP_MS,
      },
      async (response) => {
        let text = "";
        for await (const chunk of response.setEncoding("utf8")) text += chunk;
        resolve({ status: response.statusCode!, text });
      },
    );
    outgoing.once("timeout", () => outgoing.destroy(new Error(`no answer in ${GIVE_UP_MS / 1000} s`)));
    outgoing.once("error", reject);
    outgoing.end(body);
  });
}

function fileOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // A process that has just ended.
    return "";
  }
}

/** Of the thread whose loop answers, no other; in steps of 10 ms. */
function cpuMs(pid: number): number {
  const fields = fileOf(`/proc/${pid}/task/${pid}/stat`).split(") ")[1]?.split(" ");
  return fields === undefined ? 0 : (Number(fields[11]) + Number(fields[12])) * 10;
}

function memoryMb(pid: number): number {
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({
      pid: Number(name),
      parent: Number(fileOf(`/proc/${name}/stat`).split(") ")[1]?.split(" ")[1]),
    }));
  const family = new Set([pid]);
  // Children may be older than parents in the list: as often as there are generations.
  for (let before = 0; before < family.size;) {
    before = family.size;
    for (const one of processes) if (family.has(one.parent)) family.add(one.pid);
  }
  const kilobytes = [...family].map((one) =>
    Number(/VmRSS:\s+(\d+)/.exec(fileOf(`/proc/${one}/status`))?.[1] ?? 0),
  );
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1024;
}
