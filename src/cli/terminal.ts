/** What is written to people: colours when the terminal wants them, steps with a result, nothing else. */

export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
  magenta(text: string): string;
}

/** A stream that text goes to; `process.stdout` is one. */
export interface Output {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
  rows?: number;
}

/**
 * Colours only on a terminal, and not when `NO_COLOR` is set to anything or `TERM` is `dumb`.
 *
 * @see https://no-color.org
 */
export function wantsColour(output: Output, env: NodeJS.ProcessEnv = process.env): boolean {
  return output.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
}

/** Functions that colour a text, or hand it back unchanged when `coloured` is false. */
export function createPaint(coloured: boolean): Paint {
  const code = (open: number, close: number) => (text: string) =>
    coloured ? `\u001B[${open}m${text}\u001B[${close}m` : text;
  return {
    bold: code(1, 22),
    dim: code(2, 22),
    red: code(31, 39),
    green: code(32, 39),
    yellow: code(33, 39),
    cyan: code(36, 39),
    magenta: code(35, 39),
  };
}

/** Says what is going on inside a step. */
export type Report = (doing: string) => void;

/** A list of steps on the terminal, one line for each. */
export interface Steps {
  /**
   * Runs one step and writes one line for it: a turning wheel while it runs (a terminal), or what it is doing when it takes
   * longer than a second (no terminal), then its result.
   *
   * @param name   short name, the left column
   * @param work   does the step; resolves with the text of the right column
   * @throws what `work` throws, after the line was marked as failed
   */
  run(name: string, work: (report: Report) => Promise<string>): Promise<void>;
}

const WHEEL = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const NAME_WIDTH = 12;

const line = (mark: string, name: string, text: string) =>
  `  ${mark} ${name.padEnd(NAME_WIDTH)}${text}`.trimEnd();

/** A list of steps on `output`, see {@link Steps}. */
export function createSteps(output: Output, paint: Paint): Steps {
  return {
    async run(name, work) {
      const progress = showProgress(output, (mark, doing) => line(paint.cyan(mark), name, paint.dim(doing)));
      try {
        const result = await work(progress.report);
        progress.end();
        output.write(`${line(paint.green("✓"), name, result)}\n`);
      } catch (error) {
        progress.end();
        output.write(`${line(paint.red("✗"), name, paint.red("failed"))}\n`);
        throw error;
      }
    },
  };
}

function showProgress(output: Output, draw: (mark: string, doing: string) => string) {
  return output.isTTY ? turningWheel(output, draw) : spokenProgress(output, draw);
}

function turningWheel(output: Output, draw: (mark: string, doing: string) => string) {
  let turn = 0;
  let doing = "";
  const redraw = () => output.write(`\r\u001B[2K${draw(WHEEL[turn % WHEEL.length] ?? "", doing)}`);
  const timer = setInterval(() => {
    turn += 1;
    redraw();
  }, 90);
  redraw();
  return {
    report(text: string) {
      doing = text;
      redraw();
    },
    end() {
      clearInterval(timer);
      output.write("\r\u001B[2K");
    },
  };
}

/** Without a terminal lines cannot be redrawn: only what lasts is said, once per text. */
function spokenProgress(output: Output, draw: (mark: string, doing: string) => string) {
  let timer: NodeJS.Timeout | undefined;
  return {
    report(text: string) {
      clearTimeout(timer);
      timer = setTimeout(() => output.write(`${draw("…", text)}\n`), 1_000);
    },
    end: () => clearTimeout(timer),
  };
}

/** `31600000001` as `+31600000001`; other addresses unchanged. */
export function showNumber(number: string): string {
  return /^\d+$/.test(number) ? `+${number}` : number;
}

/** Rows of equal columns, two spaces apart, the first row dimmed as a heading. Empty string when there are no rows. */
export function showTable(paint: Paint, heading: string[], rows: string[][]): string {
  if (rows.length === 0) return "";
  const widths = heading.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const show = (row: string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  return [paint.dim(show(heading).trimEnd()), ...rows.map((row) => show(row).trimEnd())].join("\n");
}
