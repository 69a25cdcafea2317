/**
 * What the tabs of one session tell one another. A browser has six connections to a gateway without HTTP/2, for all its tabs
 * together: with a line for each of them, the seventh tab would wait for ever.
 */
export type Said<T> = { kind: "news"; news: T } | { kind: "who" };

/** A line that only one tab has. */
export interface SharedLine<T> {
  /** Has the line until the signal aborts, or until it gives up by itself. */
  hold(signal: AbortSignal): Promise<void>;
  /** Another tab has the line, and tells this. */
  hear(news: T): void;
  /** What a tab that has just come is to know. */
  now(): T;
}

/** How often a tab that somebody looks at asks whether there still is one that has the line. */
const ASK_MS = 10_000;
/** Questions without an answer after which it takes the line itself: a phone stops the tabs that nobody looks at. */
const UNANSWERED = 3;

/**
 * Tabs take turns: the one that has the lock has the line, and tells the others. Where a browser has no locks, or the page is not
 * served by HTTPS, each tab has its own line.
 *
 * @param name   tabs that give the same one share
 * @param signal ends it for this tab
 * @returns tells the other tabs, when this one has the line
 */
export function share<T>(name: string, signal: AbortSignal, line: SharedLine<T>): (news: T) => void {
  const { locks } = navigator as Partial<Navigator>;
  if (locks === undefined || typeof BroadcastChannel === "undefined") {
    void line.hold(signal);
    return () => {};
  }
  const channel = new BroadcastChannel(name);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel is of one origin
  const say = (said: Said<T>): void => channel.postMessage(said);
  let holding = false;
  let unanswered = 0;
  let turn = new AbortController();

  async function wait(steal: boolean): Promise<void> {
    turn.abort();
    const mine = new AbortController();
    turn = mine;
    const hold = async (): Promise<void> => {
      if (mine.signal.aborted) return;
      holding = true;
      await line.hold(mine.signal);
    };
    // One that is stolen rejects here, while what it does goes on.
    const options = steal ? { steal } : { signal: mine.signal };
    const isStolen = await locks!.request(name, options, hold).then(
      () => false,
      () => true,
    );
    if (turn !== mine) return;
    holding = false;
    if (isStolen && !signal.aborted) void wait(false);
  }

  channel.addEventListener("message", ({ data }: MessageEvent<Said<T>>) => {
    if (data.kind === "who") return holding ? say({ kind: "news", news: line.now() }) : undefined;
    if (holding) return;
    unanswered = 0;
    line.hear(data.news);
  });
  const ask = (): void => {
    if (holding || document.visibilityState !== "visible") return void (unanswered = 0);
    if (unanswered++ < UNANSWERED) return say({ kind: "who" });
    unanswered = 0;
    void wait(true);
  };
  const asking = setInterval(ask, ASK_MS);
  signal.addEventListener("abort", () => {
    clearInterval(asking);
    turn.abort();
    channel.close();
  });
  // At once when it is looked at again: the tab that had the line may have been closed meanwhile.
  document.addEventListener("visibilitychange", ask, { signal });
  void wait(false);
  say({ kind: "who" });
  return (news) => (holding && !signal.aborted ? say({ kind: "news", news }) : undefined);
}
