import assert from "node:assert/strict";
import { shownAs, type Got, type Question } from "./flow-spec.ts";

/** What a person wrote to a question as it was shown. */
interface Said {
  at: number;
  text: string;
  options: readonly string[] | null;
  value: unknown;
}

/** A question as it is shown to somebody. */
export interface Seen {
  id: string;
  text: string;
  options: readonly string[] | null;
}

/** Somebody who answers a flow that is changed meanwhile, sees only the chat, and judges what is booked by that. */
export class FlowPerson {
  #at = 0;
  /** The question that was shown last; null: none is open. */
  open: Seen | null = null;
  readonly #said = new Map<string, Said>();
  bookings = 0;

  /** Words for the open question, all of which it takes. */
  words(seed: number): string {
    const { id, text, options } = this.open!;
    const place = options === null ? 0 : seed % options.length;
    const isNo = seed % 4 === 0;
    const kind = text.split(/[ ?]/)[2];
    const plain = { text: `t${seed}`, number: String(seed), confirm: isNo ? "no" : "yes" } as const;
    const words =
      options === null ? plain[kind as keyof typeof plain] : seed % 2 ? options[place]! : String(place + 1);
    const meant = { text: words, number: seed, confirm: !isNo } as const;
    const value = options === null ? meant[kind as keyof typeof meant] : options[place]!;
    this.#said.set(id, { at: ++this.#at, text, options, value });
    return words;
  }

  /** Where nothing is answered under the key, these words are an answer as any. */
  wordsForChange(key: string): string {
    const { id, text, options } = this.open!;
    const words = `change ${key}`;
    if (options === null) this.#said.set(id, { at: ++this.#at, text, options, value: words });
    return words;
  }

  /** What came after that, and what was booked with it. */
  hears(texts: readonly string[], booked: readonly (readonly Got[])[], questions: readonly Question[]): void {
    for (const text of texts) this.#hear(text);
    for (const got of booked) this.#judge(got);
    this.#stands(questions);
  }

  /** What was said before something newer, and the code has passed since in the same words, has been said to that as well. */
  #stands(questions: readonly Question[]): void {
    let newest = 0;
    const before: { id: string; value: unknown }[] = [];
    for (const question of questions) {
      const said = this.#said.get(question.id);
      if (said === undefined || question.id === this.open?.id) return;
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
      this.open = { id, text, options: options.length === 0 ? null : options };
    } else if (text === "booked") this.open = null;
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
