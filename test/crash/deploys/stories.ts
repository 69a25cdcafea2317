/** One conversation that is under way when it is killed, deployed to a changed bot, and killed again. */
export interface Story {
  name: string;
  /** Written before the deploy. */
  before: readonly string[];
  /** Written after it, each with what is answered. A kill comes before each. */
  after: readonly (readonly [text: string, ...answers: string[]])[];
  /** What `bots check` has to say of each open conversation of the chat: dialogue, outcome, key. Sorted by dialogue. */
  foreseen: readonly (readonly [dialogue: string, outcome: string, key: string | null])[];
}

const COLOUR = "Which colour?";
const SORRY = "Sorry, I did not understand that.";
const SIZES = "Size?\n\n1. Huge\n2. Medium\n3. Small";
const DAYS = "Which day?\n\n1. Sun\n2. Sat";
const OLD_DAYS = "Which day?\n\n1. Mon\n2. Tue";

const story = (
  name: string,
  before: string,
  after: Story["after"],
  ...foreseen: Story["foreseen"][number][]
): Story => ({ name, before: before.split("|"), after, foreseen });

const asked = (kind: string, answer: string, value = answer): Story =>
  story(`flow: ${kind}`, `go ${kind}`, [[answer, `${kind}: ${value}`]], [`ask-${kind}`, "goes_on", null]);

/** Every kind of question of forms, menus and flows; each answer means what was shown before the deploy, and what comes behind a question that is new is asked again in new words. */
export const STORIES: readonly Story[] = [
  story("menu: a number means what stood there", "go main", [["1", "9 to 18"]], ["start", "goes_on", null]),
  story("menu: the third", "go main", [["3️⃣", "One moment"]], ["start", "goes_on", null]),
  story(
    "menu: what is gone",
    "go main",
    [
      [
        "2",
        "Sorry, that is no longer available.",
        "What can we do?\n\n1. Refund\n2. A person\n3. Opening hours",
      ],
      ["2", "One moment"],
    ],
    ["start", "goes_on", null],
  ),
  story(
    "form: at the first question, which is tightened",
    "go lead",
    [
      ["Ana", SORRY, "Full name?"],
      ["Ana Mora", "Born?"],
      ["1990", "Colour?"],
      ["red", SIZES],
      ["3", "lead: Ana Mora red s"],
    ],
    ["lead", "goes_on", null],
  ),
  story(
    "form: behind an answer that fits no more",
    "go lead|Ana",
    [
      ["1990", "Full name?"],
      ["Ana Mora", "Colour?"],
      ["red", SIZES],
      ["1", "lead: Ana Mora red xl"],
    ],
    ["lead", "asked_again", "name"],
  ),
  story(
    "form: at a question that is gone",
    "go lead|Ana Mora|1990",
    [
      ["a cat", "Colour?"],
      ["red", SIZES],
      ["2", "lead: Ana Mora red m"],
    ],
    ["lead", "asked_new", "colour"],
  ),
  story(
    "form: at a choice that is reordered",
    "go lead|Ana Mora|1990|a cat",
    [
      ["1", "Colour?"],
      ["red", "lead: Ana Mora red s"],
    ],
    ["lead", "goes_on", null],
  ),
  story(
    "flow: at a choice that is reordered",
    "go booking",
    [
      ["1", "Your full name?"],
      ["Ana Mora", DAYS],
      ["1", "cut/no for Ana Mora on Sun?"],
      ["yes", "Booked."],
    ],
    ["appointment", "goes_on", null],
  ),
  story(
    "flow: at a text that is tightened",
    "go booking|1",
    [
      ["Ana", SORRY, "Your full name?"],
      ["Ana Mora", DAYS],
      ["Sat", "cut/no for Ana Mora on Sat?"],
      ["no", "As you like."],
    ],
    ["appointment", "goes_on", null],
  ),
  story(
    "flow: at a list of run time, behind a renamed step",
    "go booking|1|Ana Mora",
    [
      ["1", "cut/no for Ana Mora on Mon?"],
      ["yes", "Booked."],
    ],
    ["appointment", "goes_on", null],
  ),
  story(
    "flow: at a list of run time, behind a question that is new",
    "go booking|2|Ana Mora",
    [
      ["2", COLOUR],
      ["red", OLD_DAYS],
      ["2", "dye/red for Ana Mora on Tue?"],
      ["yes", "Booked."],
    ],
    ["appointment", "asked_new", "colour"],
  ),
  story(
    "flow: at a list of run time, behind an answer that fits no more",
    "go booking|1|Ana",
    [
      ["2", "Your full name?"],
      ["Ana Mora", OLD_DAYS],
      ["2", "cut/no for Ana Mora on Tue?"],
      ["yes", "Booked."],
    ],
    ["appointment", "asked_again", "name"],
  ),
  story(
    "flow: at a yes or no that is to something else",
    "go booking|1|Ana Mora|1",
    [
      ["yes", "cut/no for Ana Mora on Mon?"],
      ["yes", "Booked."],
    ],
    ["appointment", "goes_on", null],
  ),
  story(
    "flow: goes back after the deploy",
    "go booking|1|Ana Mora",
    [
      ["back", "Your full name?"],
      ["Eva Mora", OLD_DAYS],
      ["1", "cut/no for Eva Mora on Mon?"],
      ["yes", "Booked."],
    ],
    ["appointment", "goes_on", null],
  ),
  story(
    "flow: onChange says so",
    "go pay",
    [["thanks", "We have changed. Please begin again."]],
    ["pay", "ends", null],
  ),
  story(
    "flow: onChange restarts",
    "go again",
    [
      ["because", "Why now?"],
      ["so", "Thanks."],
    ],
    ["again", "restarts", null],
  ),
  story(
    "flow: onChange migrates",
    "go made",
    [
      ["fine", "How was m-1?"],
      ["fine", "Noted."],
    ],
    ["made", "migrates", "note"],
  ),
  story("flow: within another", "go order|A", [["B", "from A to B"]], ["order", "goes_on", null]),
  story(
    "flow: of each thing in a list",
    "go dishes|big",
    [
      ["small", "how much tea?"],
      ["none", "how much soup?"],
      ["big", "small,none,big"],
    ],
    ["dishes", "goes_on", null],
  ),
  story(
    "flow: one beside it waits for a signal",
    "go plan|Ana",
    [
      ["go move", "Moved.", "Will you come on Friday?"],
      ["yes", "Good."],
    ],
    ["reminder", "goes_on", null],
  ),
  story(
    "flow: a question, and one beside it that waits",
    "go plan",
    [
      ["Ana", "It is planned."],
      ["go move", "Moved.", "Will you come on Friday?"],
      ["yes", "Good."],
    ],
    ["plan", "goes_on", null],
    ["reminder", "goes_on", null],
  ),
  story(
    "flow: it sleeps, and a question is new before that",
    "go sleeper",
    [["visit", "visit 1, 1 stamps"]],
    ["sleeper", "asked_new", "first"],
  ),
  asked("email", "ana@example.com"),
  asked("phone", "+49 151 0000000", "491510000000"),
  asked("number", "7"),
  asked("yes", "no", "false"),
  asked("place", "skip", "null"),
  asked("photo", "skip", "null"),
  asked("own", "mine"),
  story(
    "flow: a choice that has become a list of run time",
    "go list",
    [
      ["1", "Sorry, that is no longer available.", "Which one?\n\n1. Third\n2. Fourth"],
      ["2", "list: Fourth"],
    ],
    ["ask-list", "goes_on", null],
  ),
  story(
    "session: counts go on with what is new beneath them",
    "visit|visit|go yes",
    [
      ["visit", "visit 3, 1 stamps", "Really sure?"],
      ["yes", "yes: true"],
    ],
    ["ask-yes", "goes_on", null],
  ),
];
