import { mkdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { GatewayClient } from "../../cli/gateway-client.ts";
import { writeStoryFile } from "../../cli/stories/written.ts";
import { createAuthenticator } from "../authenticator.ts";
import type { Cleanup } from "../cleanup.ts";
import { startReceiver, type Receiver } from "../receiver.ts";
import { replayCommand, storyOfChat, type Chat } from "../save-story.ts";
import { NUMBER, SHOP, type Services } from "../services.ts";
import { bindBots } from "../stage.ts";
import { startStandIns, type StandIns } from "../stand-ins.ts";
import type { WithCookie } from "./answers.ts";
import { type Author, createAuthor } from "./author.ts";
import { createCalls, type Calls } from "./calls.ts";
import { createFaults } from "./faults.ts";
import { createFiles, type Files } from "./files.ts";
import { createLines, type Lines } from "./lines.ts";
import { createLinking, type Linking } from "./linking.ts";
import { createPhones, type Phones } from "./phones.ts";
import { Refusal } from "./refusal.ts";
import { followTranscript } from "./transcript.ts";
import { createVerdicts } from "./verdict.ts";
import type { FaultName, PlaygroundEvent, VerdictView, WorldView } from "./view.ts";
import { createAsker, type Asker } from "./why.ts";

/** A conversation that is to become a story. */
interface StoryRequest {
  phone: string;
  chat: string;
  title: string;
  /** Name without an ending. */
  file: string;
}

/** Everything that the page can do. */
export interface Playground {
  phones: Phones;
  calls: Calls;
  files: Files;
  linking: Linking;
  setFault(name: FaultName, on: boolean): Promise<void>;
  /** Somebody else connects with the gateway's keys. */
  replace(): Promise<void>;
  /** SIGKILL; a verdict follows when the gateway is back. */
  kill(): Promise<void>;
  judge(): Promise<VerdictView>;
  /** What the gateway says of a message. */
  traceOf(id: string): Promise<unknown>;
  saveStory(story: StoryRequest): Promise<{ file: string; run: string; text: string }>;
  /** A session for the browser at the gateway's console, whose key it never sees. */
  signIn(as: "account" | "operator", hostname: string): Promise<WithCookie>;
  /** A line of the gateway in development. */
  hear(line: string): void;
  /** Everything there is, then what changes. @returns ends it */
  subscribe(listener: (event: PlaygroundEvent) => void): () => void;
}

interface PlaygroundOptions {
  services: Services;
  cleanup: Cleanup;
  /** Where stories are written, absolute. */
  stories: string;
  /** The folder of the bots that somebody works on, and how it is shown. */
  author?: { folder: string; name: string } | undefined;
  /** What a person should hear of that nobody asked for. */
  onTrouble(text: string): void;
}

/** What the playground itself keeps in mind. */
interface Seen {
  verdict: VerdictView | null;
  judging: boolean;
  kills: number;
  /** Null: nobody answers yet. */
  bots: string[] | null;
}

/** Phones, faults and a verdict around a gateway that runs. */
export async function createPlayground(options: PlaygroundOptions): Promise<Playground> {
  const { services, cleanup, stories, onTrouble } = options;
  const { simulator, kept, folder, dataDir } = services;
  if (kept === null) throw new Error("The playground killed its gateway; start the gateway again.");
  const gateway = await withOwnKey(services.gateway);
  const { receiver, standIns } = await openServers(cleanup, () => changed());
  const authenticator = createAuthenticator();
  const audience = createAudience();
  const lines = createLines();
  const files = createFiles(join(folder, "files"));
  const seen: Seen = { verdict: null, judging: false, kills: 0, bots: null };
  let world: (() => WorldView) | null = null;
  const changed = (): void => {
    if (world !== null) audience.tell({ type: "world", world: world() });
  };
  const asker = createAsker(gateway, (id, why) => lines.explain(id, why));
  cleanup.add(async () => asker.end());
  const author = options.author
    ? createAuthor({ gateway, ...options.author, lines, onChange: () => changed(), onTrouble })
    : null;
  const phones = await createPhones({ simulator, lines, files, onChange: changed });
  const calls = createCalls({ simulator, requireOnline: phones.requireOnline, onChange: changed });
  cleanup.add(async () => calls.stop());
  const faults = createFaults({ simulator, receiver, authenticator });
  const verdicts = createVerdicts({ simulator, dataDir, phones: phones.all });
  const judgeNow = (): Promise<VerdictView> => judge(verdicts, seen, changed);
  const failed = (error: Error): void => onTrouble(error.message);
  let judgesWhenBack = false;
  const linking = createLinking({
    simulator,
    gateway,
    authenticator,
    onChange: changed,
    onTrouble,
    onConnected() {
      void furnish(gateway, author !== null, { receiver, standIns, seen }).then(changed, failed);
      if (!judgesWhenBack) return;
      judgesWhenBack = false;
      void judgeNow().catch(failed);
    },
  });
  cleanup.add(async () => linking.end());
  world = () => ({
    phones: phones.all(),
    groups: phones.groups(),
    calls: calls.all(),
    faults: faults.state(),
    ...viewOf(seen, author),
    number: { digits: NUMBER, name: SHOP, ...linking.state() },
    gateway: { url: gateway.baseUrl, up: kept.isUp(), kills: seen.kills },
    files: files.all(),
    webhook: { url: receiver.url, ...receiver.counts() },
  });
  kept.onChange(() => {
    if (kept.isUp()) author?.cameUp();
    changed();
  });
  lines.onChange((line) => audience.tell({ type: "line", line: { ...line } }));

  await follow(services, cleanup, { lines, asker });

  return {
    phones,
    calls,
    files: { ...files, keep: async (...file) => files.keep(...file).finally(changed) },
    linking,
    async setFault(name, on) {
      await faults.set(name, on);
      changed();
    },
    replace: () => simulator.faults.close({ number: NUMBER, code: 440 }),
    async kill() {
      if (!kept.isUp()) throw new Refusal(409, "The gateway is already down; it restarts on its own.");
      seen.kills += 1;
      judgesWhenBack = true;
      await kept.kill();
    },
    judge: judgeNow,
    traceOf: (id) => traceOf(gateway, id),
    saveStory({ phone, chat, title, file }) {
      const contact = phones.addressOf(phone, chat);
      return saveStory(join(stories, `${file}.story.yaml`), { dataDir, contact }, title);
    },
    hear: (line) => author?.hear(line),
    signIn: (as, hostname) => signIn(services, as, hostname),
    subscribe(listener) {
      listener({ type: "all", world: world!(), lines: lines.all() });
      return audience.add(listener);
    },
  };
}

function createAudience() {
  const listeners = new Set<(event: PlaygroundEvent) => void>();
  return {
    tell: (event: PlaygroundEvent): void => listeners.forEach((listener) => listener(event)),
    add(listener: (event: PlaygroundEvent) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

async function judge(
  verdicts: () => Promise<VerdictView>,
  seen: Seen,
  onChange: () => void,
): Promise<VerdictView> {
  seen.judging = true;
  onChange();
  try {
    seen.verdict = await verdicts();
    return seen.verdict;
  } finally {
    seen.judging = false;
    onChange();
  }
}

const viewOf = ({ verdict, judging, bots }: Seen, author: Author | null) => ({
  bots: author?.bots() ?? bots ?? [],
  author: author?.view() ?? null,
  verdict,
  judging,
});

async function traceOf(gateway: GatewayClient, id: string): Promise<unknown> {
  const answer = await gateway.get<{ data: unknown }>(
    `/messages/${encodeURIComponent(id)}/trace?sender=${NUMBER}`,
  );
  return answer.data;
}

/** What comes to the phones is shown, and what the gateway took or sent it is asked about. */
async function follow(
  { simulator }: Services,
  cleanup: Cleanup,
  { lines, asker }: { lines: Lines; asker: Asker },
): Promise<void> {
  const following = new AbortController();
  cleanup.add(async () => following.abort());
  await followTranscript(
    simulator.controlUrl,
    (entry) => {
      lines.came(entry);
      const isGateways =
        entry.direction === "to_companion" || (entry.from === NUMBER && entry.fromDevice > 0);
      if (isGateways && entry.decrypted) asker.ask(entry.id);
    },
    following.signal,
  );
}

async function saveStory(path: string, chat: Chat, title: string): ReturnType<Playground["saveStory"]> {
  const text = await storyOfChat(chat, title);
  await mkdir(dirname(path), { recursive: true });
  await writeStoryFile(path, text);
  const file = relative(process.cwd(), path) || path;
  return { file, run: replayCommand(file), text };
}

/** What bots and the number's webhook reach. */
async function openServers(cleanup: Cleanup, onChange: () => void) {
  const receiver = await startReceiver(onChange);
  cleanup.add(() => receiver.close());
  const standIns = await startStandIns();
  cleanup.add(() => standIns.close());
  return { receiver, standIns };
}

/** What the page asks does not count against the key that is shown for one's own requests. */
async function withOwnKey(gateway: GatewayClient): Promise<GatewayClient> {
  const made = await gateway.post<{ api_key: string }>("/api-keys", {
    name: "playground",
    permissions: ["*"],
  });
  return gateway.as(made.api_key);
}

/** Told to whoever calls, in so far as they can be written to. */
const CALLS_TEXT = "We cannot take calls here. Please write to us.";

/** Bots answer, calls are declined, and a webhook stands behind them, once the number is there. */
async function furnish(
  gateway: GatewayClient,
  mayBeBroken: boolean,
  { receiver, standIns, seen }: { receiver: Receiver; standIns: StandIns; seen: Seen },
): Promise<void> {
  if (seen.bots !== null) return;
  const bots = await bindBots(gateway, mayBeBroken, standIns);
  const made = await gateway.put<{ secret: string }>(`/devices/${NUMBER}/webhook`, { url: receiver.url });
  receiver.trust(made.secret);
  await gateway.patch(`/devices/${NUMBER}`, { calls: "reject", calls_text: CALLS_TEXT });
  seen.bots = bots;
}

/** Cookies know no ports: the gateway's own cookie, handed on by us, is the browser's at the gateway. */
async function signIn(
  { gateway, apiKey, adminToken }: Services,
  as: "account" | "operator",
  hostname: string,
): Promise<WithCookie> {
  const response = await fetch(`${gateway.baseUrl}/console/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(as === "operator" ? { token: adminToken } : { key: apiKey }),
  }).catch(() => null);
  if (response === null) throw new Refusal(503, "The gateway does not answer now. Wait until it is back.");
  if (!response.ok) throw new Refusal(502, `The gateway opened no session (HTTP ${response.status}).`);
  const { port } = new URL(gateway.baseUrl);
  const cookies = response.headers.getSetCookie();
  return { cookies, body: { url: `http://${hostname}:${port}/console` } };
}
