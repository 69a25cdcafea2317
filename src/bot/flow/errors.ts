/** What `f.step` throws when its last try has failed. Its message is the one of the error that was thrown then. */
export class StepFailedError extends Error {
  /** Key of the step. */
  readonly step: string;

  constructor(step: string, message: string) {
    super(message);
    this.name = "StepFailedError";
    this.step = step;
  }
}

/** The code of a flow does what no flow can: its message says what, and what to write instead. */
export class FlowMistake extends TypeError {
  constructor(message: string) {
    super(message);
    this.name = "FlowMistake";
  }
}
