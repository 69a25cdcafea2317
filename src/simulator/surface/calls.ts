/** Calls, which here are stanzas only: nobody ever hears anything. */

/** How a call is made. */
export interface CallOptions {
  /** With a picture. Default false. */
  video?: boolean;
}

/** What became of a call at one of those who were called. */
export interface CallState {
  state: "ringing" | "accepted" | "rejected" | "ended";
  /** The device that has taken or rejected it; 0 is the phone. */
  device?: number;
}
