import { timeWithClock } from "../../src/model/time.ts";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { vi } from "vitest";
import { loadConfig } from "../../src/config.ts";
import { adviceFor } from "../../src/numbers/link.ts";
import { createNumbers, type LinkState, type LinkStatus, type Numbers } from "../../src/numbers/numbers.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { removeFolder } from "../_setup/folders.ts";
import { rest } from "../unit/outbox/harness.ts";
import { Phone } from "./phone.ts";
import { NO_INTAKE } from "../../src/store/write/intake.ts";

export const OWN = "31600000001";
export const FOREIGN = "31600000002";
const ACCOUNT = "account";
const DEVICE = 1;
const silent = pino({ level: "silent" });
/** Nothing goes on by itself in these. */
const RESTING = new Set<LinkState>(["unlinked", "logged_out", "blocked", "replaced"]);

/** One number on a real database, with a clock that stands still until it is moved. */
export class NumberRun {
  readonly phone = new Phone();
  readonly #folder = mkdtempSync(join(tmpdir(), "parley-property-"));
  /** A commit takes the disk's time, which no turn of the loop waits for. */
  readonly #committing = new Set<Promise<void>>();
  #store!: Store;
  #numbers!: Numbers;

  async start(): Promise<void> {
    const config = loadConfig({ DATA_DIR: this.#folder, LOG_LEVEL: "silent", STORE_THREAD: "off" });
    const store = await openStore(
      config,
      silent,
      timeWithClock(() => Date.now()),
    );
    const commit: Store["writer"]["commit"] = (work) => {
      const done = store.writer.commit(work);
      const settled = done.then(
        () => undefined,
        () => undefined,
      );
      this.#committing.add(settled);
      void settled.then(() => this.#committing.delete(settled));
      return done;
    };
    this.#store = { ...store, writer: { ...store.writer, commit } };
    await this.#run();
    await this.#numbers.register(ACCOUNT, OWN);
  }

  async #run(): Promise<void> {
    this.#numbers = createNumbers({
      store: this.#store,
      log: silent,
      whatsapp: this.phone.whatsapp(),
      erase: async () => undefined,
      deviceLimit: async () => null,
      onMessages: () => NO_INTAKE,
      onAcknowledged: async () => undefined,
      tell: () => undefined,
      random: () => 0.5,
    });
    await this.#numbers.load();
    await this.#numbers.start();
  }

  get state(): LinkState {
    return this.#numbers.state(DEVICE)!;
  }

  get isConnected(): boolean {
    return this.#numbers.connection(DEVICE) !== null;
  }

  /** @returns null after another number scanned, which is said once */
  async link(force = false, method: "qr" | "code" = "qr"): Promise<LinkStatus | null> {
    this.phone.forbidden = null;
    const asked = this.#numbers.link(DEVICE, { force, method }).catch((error: { code: string }) => {
      if (error.code !== "WRONG_NUMBER") throw error;
      return null;
    });
    await this.pass(2_000);
    return asked;
  }

  async logout(): Promise<void> {
    const done = this.#numbers.logout(DEVICE);
    await this.pass(6_000);
    await done;
  }

  /** With a drain, or as SIGKILL leaves it. */
  async restart(clean: boolean): Promise<void> {
    if (clean) await this.#numbers.stop();
    await this.#store.writer.drain();
    vi.clearAllTimers();
    // What the last run still holds must not speak any more.
    this.phone.killed();
    for (const link of this.phone.links) link.listener = deaf;
    await this.#run();
  }

  async #rest(): Promise<void> {
    await rest();
    while (this.#committing.size > 0) {
      await Promise.all(this.#committing);
      await rest();
    }
  }

  async pass(ms: number): Promise<void> {
    await this.#rest();
    const step = Math.max(500, ms / 8);
    for (let left = ms; left > 0; left -= step) {
      await vi.advanceTimersByTimeAsync(Math.min(step, left));
      await this.#rest();
    }
  }

  /** What must hold whenever everything has come to rest. */
  contradictions(): string[] {
    const { state, phone } = this;
    const why = this.#numbers.whyHere(DEVICE)!;
    const found = [...phone.problems];
    const wrong = (isWrong: boolean, what: string): void => void (isWrong && found.push(`${state}: ${what}`));
    const isRefusing = phone.credentials?.number === FOREIGN;
    const live = phone.live.length;
    wrong(why.state !== state, `why says ${why.state}`);
    wrong(why.advice !== adviceFor(state, why.lastClose), "why advises something else");
    wrong(this.#numbers.states().get(state) !== 1, "the count of states disagrees");
    wrong(live > 1, "two connections");
    wrong(this.isConnected !== (state === "connected"), "a connection that does not fit the state");
    wrong(state === "connected" && !phone.current?.open, "WhatsApp has no open connection");
    wrong(why.nextRetryAt !== null && live > 0, "a retry is planned beside a connection");
    wrong(RESTING.has(state) && !isRefusing && live > 0, "a connection where none should be");
    wrong(RESTING.has(state) && !isRefusing && why.nextRetryAt !== null, "a retry that nobody asked for");
    const goesOn = state === "connecting" || state === "linking" || state === "connected";
    wrong(goesOn && live === 0 && why.nextRetryAt === null, "nothing will ever happen");
    wrong(
      (state === "unlinked" || state === "logged_out") && phone.credentials?.number === OWN,
      "credentials are left",
    );
    wrong(this.#numbers.isLinked(DEVICE) && !phone.credentials, "linked without credentials");
    wrong(state === "linking" && phone.credentials?.number === OWN, "a QR for a number that is linked");
    return found;
  }

  async close(): Promise<void> {
    await this.#numbers.stop();
    await this.#store.close();
    removeFolder(this.#folder);
  }
}

const deaf = {
  tell: () => undefined,
  messages: () => NO_INTAKE,
  store: async () => undefined,
};
