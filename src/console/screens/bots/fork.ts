/** What somebody is answered. */
export interface Answer {
  who: "bot" | "webhook" | "sent";
  text: string;
}

/** What was said, what was answered then, and what is answered now. */
export interface Turn {
  who: "user" | "owner" | "time";
  as: string | null;
  said: string[];
  before: Answer[] | null;
  now: Answer[] | null;
  same: boolean;
}

/** Answer of `POST /bots/fork`. */
export interface Fork {
  turns: Turn[];
  bots: { id: string; from: "folder" | "sources" | "build" }[];
  complete: boolean;
  differences: number;
  troubles: string[];
  logged: string[];
  story: string;
}
