/** What `npm start` tells the one who started it. */
export interface BannerFacts {
  version: string;
  /** Where it listens: `http://HOST:PORT`. */
  url: string;
  /** What to open in a browser. */
  consoleUrl: string;
  /** The same, signed in as the operator, once; null: no link is shown. */
  signInUrl: string | null;
  /** Absolute path. */
  dataDir: string;
  /** `DATABASE_URL` as the configuration has it; credentials in it are not shown. */
  databaseUrl: string;
  /** True when the setting `PARLEY_MASTER_KEY` / `PARLEY_ADMIN_TOKEN` is given; false when it is a file in `dataDir`. */
  masterKeyGiven: boolean;
  adminTokenGiven: boolean;
  /** Numbers that are linked, of all accounts. */
  linkedNumbers: number;
  /** Numbers that stay away until somebody does something, of all accounts. */
  waitingNumbers: number;
  /** The system has ffmpeg. */
  hasConverter: boolean;
  /** `WHATSAPP_WS_URL`; null is the real WhatsApp. */
  simulatorUrl: string | null;
  /** Bots that could not be loaded, with the reason. */
  brokenBots: { id: string; error: string }[];
}

/** Names of the generated secrets in `dataDir`, see `store/sealed/secrets.ts`. */
const MASTER_KEY_FILE = "master-key";
const ADMIN_TOKEN_FILE = "admin-token";
const LABEL_WIDTH = 11;

/**
 * Where to go, how the numbers are, what is missing, where data and secrets lie. The operator's link is the only secret in it.
 *
 * @param coloured bold and dim for a terminal. Default false
 * @returns rows that end with a line break, a blank one before and after
 */
export function startBanner(facts: BannerFacts, coloured = false): string {
  const dim = (text: string) => (coloured ? `\u001B[2m${text}\u001B[22m` : text);
  const bold = (text: string) => (coloured ? `\u001B[1m${text}\u001B[22m` : text);
  const row = (label: string, text: string) => `  ${dim(label.padEnd(LABEL_WIDTH))}${text}`;
  return [
    "",
    `  ${bold("Parley")} ${dim(facts.version)}`,
    "",
    row("Open", bold(facts.consoleUrl)),
    ...(facts.signInUrl === null
      ? []
      : [row("Sign in", facts.signInUrl), row("", dim("works once, within ten minutes"))]),
    "",
    row("numbers", showNumbers(facts)),
    ...facts.brokenBots.map((bot) => row("broken bot", `${bot.id}: ${bot.error}`)),
    ...(facts.hasConverter
      ? []
      : [row("missing", "ffmpeg, which makes voice notes: install it, or set FFMPEG_PATH")]),
    row("listens", facts.url),
    row("whatsapp", facts.simulatorUrl ? `simulator at ${facts.simulatorUrl}` : "the real one"),
    row("data", facts.dataDir),
    row("database", showDatabase(facts)),
    row("secrets", showSecrets(facts)),
    "",
    ...showNext(facts, dim).map((text, index) => row(index === 0 ? "or type" : "", text)),
    "",
    "",
  ].join("\n");
}

function showNumbers({ linkedNumbers, waitingNumbers }: BannerFacts): string {
  const linked = linkedNumbers === 0 ? "none linked yet" : `${linkedNumbers} linked`;
  if (waitingNumbers === 0) return linked;
  return `${linked}, ${waitingNumbers} ${waitingNumbers === 1 ? "needs" : "need"} you: see the console`;
}

function showDatabase({ databaseUrl, dataDir }: BannerFacts): string {
  if (databaseUrl.startsWith("file:")) {
    const path = databaseUrl.slice("file:".length);
    return path.startsWith(`${dataDir}/`) ? path.slice(dataDir.length + 1) : path;
  }
  return new URL(databaseUrl).host;
}

function showSecrets({ masterKeyGiven, adminTokenGiven, dataDir }: BannerFacts): string {
  const files = [
    ...(masterKeyGiven ? [] : [MASTER_KEY_FILE]),
    ...(adminTokenGiven ? [] : [ADMIN_TOKEN_FILE]),
  ];
  if (files.length === 0) return "from the environment";
  return `${files.map((name) => `${dataDir}/${name}`).join(", ")} (keep a copy)`;
}

function showNext({ linkedNumbers }: BannerFacts, dim: (text: string) => string): string[] {
  const steps: [command: string, does: string][] = [
    linkedNumbers === 0
      ? ["npm run parley -- link <number>", "shows a QR code to scan"]
      : ["npm run parley -- devices list", "the state of your numbers"],
    ["npm run parley -- doctor", "checks that everything works"],
  ];
  const width = Math.max(...steps.map(([command]) => command.length));
  return steps.map(([command, does]) => `${command.padEnd(width)}  ${dim(does)}`);
}
