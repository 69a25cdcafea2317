import assert from "node:assert/strict";
import { createTestChat, type TestChat } from "../../src/testing/index.ts";
import { botOf, edited, shownAs, type Edit, type Got, type Question } from "./flow-spec.ts";

/** What a person wrote to a question as it was shown. */
interface Said {
  at: number;
  text: string;
  options: readonly string[] | null;
  value: unknown;
}

/** What can happen to a conversation. */
export type Action =
  | { do: "answer"; with: number }
  | { do: "change"; at: number }
  | { do: "back" }
  | { do: "kill" }
  | { do: "deploy"; edits: readonly Edit[] };

/** A conversation with a flow that is changed under it, told by a person who sees only the chat. */
export class FlowRun {
  #chat!: TestChat;
  #questions: Question[] = [];
  #ids = 0;
  #at = 0;
  #seen = 0;
  /** The question that was shown last. */
  #open: { id: string; text: string; options: readonly string[] | null } | null = null;
  readonly #said = new Map<string, Said>();
  /** Bookings that nobody has looked at. */
  readonly #booked: Got[][] = [];
  bookings = 0;

  async start(edits: readonly Edit[]): Promise<void> {
    this.#change(edits);
    this.#chat = await createTestChat({ shop: this.#bot() });
    await this.#write("go");
  }

  async act(action: Action): Promise<void> {
    if (action.do === "kill") await this.#chat.kill();
    else if (action.do === "deploy") {
      this.#change(action.edits);
      await this.#chat.deploy({ shop: this.#bot() });
    } else if (this.#open === null) await this.#write("go");
    else if (action.do === "answer") await this.#answer(action.with);
    else if (action.do === "back") await this.#write("back");
    else await this.#wantChange(this.#questions[action.at % this.#questions.length]!.key);
  }

  /** Where nothing is answered under the key, these words are an answer as any. */
  async #wantChange(key: string): Promise<void> {
    const { id, text, options } = this.#open!;
    const words = `change ${key}`;
    if (options === null) this.#said.set(id, { at: ++this.#at, text, options, value: words });
    await this.#write(words);
  }

  /** Answers until the conversation has come to its end. */
  async finish(): Promise<void> {
    for (let turn = 0; turn < 60 && this.#open !== null; turn++) await this.#answer(turn);
    assert.equal(this.#open, null, "the conversation has no end");
  }

  close(): Promise<void> {
    return this.#chat?.close() ?? Promise.resolve();
  }

  #change(edits: readonly Edit[]): void {
    for (const edit of edits) this.#questions = edited(this.#questions, edit, () => `q${++this.#ids}`);
  }

  #bot() {
    return botOf(this.#questions, (got) => void this.#booked.push(got));
  }

  async #answer(seed: number): Promise<void> {
    const { id, text, options } = this.#open!;
    const place = options === null ? 0 : seed % options.length;
    const isNo = seed % 4 === 0;
    const kind = text.split(/[ ?]/)[2];
    const plain = { text: `t${seed}`, number: String(seed), confirm: isNo ? "no" : "yes" } as const;
    const words =
      options === null ? plain[kind as keyof typeof plain] : seed % 2 ? options[place]! : String(place + 1);
    const meant = { text: words, number: seed, confirm: !isNo } as const;
    const value = options === null ? meant[kind as keyof typeof meant] : options[place]!;
    this.#said.set(id, { at: ++this.#at, text, options, value });
    await this.#write(words);
  }

  async #write(words: string): Promise<void> {
    await this.#chat.user(words);
    const replies = this.#chat.replies();
    for (const reply of replies.slice(this.#seen)) this.#hear((reply as { text: string }).text);
    this.#seen = replies.length;
    for (const got of this.#booked.splice(0)) this.#judge(got);
    this.#stands();
  }

  /** What was said before something newer, and the code has passed since in the same words, has been said to that as well. */
  #stands(): void {
    let newest = 0;
    const before: { id: string; value: unknown }[] = [];
    for (const question of this.#questions) {
      const said = this.#said.get(question.id);
      if (said === undefined || question.id === this.#open?.id) return;
      const { text, options } = shownAs(question, before);
      const isSame = said.text === text && JSON.stringify(said.options) === JSON.stringify(options);
      if (said.at < newest && isSame) said.at = ++this.#at;
      newest = Math.max(newest, said.at);
      before.push({ id: question.id, value: said.value });
    }
  }

  #hear(said: string): void {
    const [text = "", ...lines] = said.split("\n").filter((line) => line !== "");
    const id = /^(q\d+) v\d+ .*\?$/.exec(text)?.[1];
    if (id !== undefined) {
      const options = lines.map((line) => line.replace(/^\d+\. /, ""));
      this.#open = { id, text, options: options.length === 0 ? null : options };
    } else if (text === "booked") this.#open = null;
    else assert.match(text, /no longer available|did not understand/);
  }

  /** What was booked is what the person was shown last and said to it. */
  #judge(got: readonly Got[]): void {
    this.bookings++;
    let newest = 0;
    for (const { id, value, text, options } of got) {
      const said = this.#said.get(id);
      assert.deepEqual({ id, value }, { id, value: said?.value });
      const isOvertaken = said!.at < newest;
      newest = Math.max(newest, said!.at);
      if (options !== null)
        assert.deepEqual({ id, offered: options.includes(String(value)) }, { id, offered: true });
      if (isOvertaken || value === true) assert.deepEqual({ id, text }, { id, text: said!.text });
      if (isOvertaken) assert.deepEqual({ id, options }, { id, options: said!.options });
    }
    this.#said.clear();
  }
}
